//! Tests of `parse.zig`: what a good set holds, and the message that each broken one gets.

const std = @import("std");
const parse_module = @import("parse.zig");
const variant_types = @import("variant.zig");
const Variant = variant_types.Variant;
const testing = std.testing;

const good =
    \\{"generator": "tests", "kernels": [
    \\ {"fn": "_f", "hash": "AB-12", "name": "_f", "num_warps": 4, "future": [1],
    \\  "params": [{"name": "X", "type": "*bf16", "div16": true, "nospec": false}],
    \\  "consts": {"N": {"int": 1}, "S": {"f32": 1031798784}, "M": {"none": true}}},
    \\ {"fn": "_g", "hash": "CD", "name": "_g_0", "num_warps": 8, "num_stages": 3, "num_ctas": 2, "warp_size": 64,
    \\  "shared": 49152, "global_scratch": 0, "global_align": 1, "profile_scratch": 0, "pdl": true, "params": [], "consts": {}}
    \\]}
;

test "parse: every field and its default" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var diagnostic: parse_module.Diagnostic = .{};
    const set = try parse_module.parse(arena.allocator(), good, &diagnostic);
    try testing.expectEqual(@as(usize, 2), set.variants.len);
    const first = set.variants[0];
    try testing.expectEqualStrings("AB-12", first.hash);
    try testing.expectEqual(@as(u32, 4), first.num_warps);
    try testing.expectEqual([_]u32{ 0, 1, 32, 0 }, [_]u32{ first.num_stages, first.num_ctas, first.warp_size, first.shared });
    try testing.expect(!first.pdl);
    try testing.expect(first.param("X").?.div16);
    try testing.expect(!first.param("X").?.nospec);
    try testing.expectEqual(@as(i64, 1), first.constant("N").?.int);
    try testing.expectEqual(@as(u32, @bitCast(@as(f32, 0.0625))), first.constant("S").?.f32);
    try testing.expect(first.constant("M").? == .none);
    // Without seals, code is taken to assume what its entry serves, and to be asked for as it is launched.
    try testing.expect(set.foreign and first.param("X").?.assumes16);
    try testing.expectEqual(Variant.Requested{ .num_warps = 4, .num_stages = 0 }, first.requested);
    try testing.expectEqual(@as(?variant_types.Param, null), first.param("Y"));
    const second = set.ofFunction("_g")[0];
    try testing.expectEqual([_]u32{ 3, 2, 64, 49152 }, [_]u32{ second.num_stages, second.num_ctas, second.warp_size, second.shared });
    try testing.expect(second.pdl);
    try testing.expectEqual(@as(usize, 0), set.ofFunction("_h").len);
    try testing.expectEqualStrings("cubins", set.bin_dir);
    try testing.expectEqual(@as(?i64, 1), set.smallestConst("_f", "N", 0));
    try testing.expectEqual(@as(?i64, null), set.smallestConst("_f", "N", 2));
    try testing.expectEqual(@as(?i64, null), set.smallestConst("_f", "M", 0));
}

test "parse: the folder and ending of the binaries" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var diagnostic: parse_module.Diagnostic = .{};
    const set = try parse_module.parse(arena.allocator(), "{\"bin_dir\": \"code\", \"bin_ext\": \"hsaco\", \"kernels\": []}", &diagnostic);
    try testing.expectEqualStrings("code", set.bin_dir);
    try testing.expectEqualStrings("hsaco", set.bin_ext);
}

fn checkRefused(text: []const u8, want: []const u8) !void {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var diagnostic: parse_module.Diagnostic = .{};
    try testing.expectError(error.InvalidSet, parse_module.parse(arena.allocator(), text, &diagnostic));
    try testing.expectEqualStrings(want, diagnostic.message);
}

test "parse: a file that is no set" {
    try checkRefused("", "the file is empty; expected one JSON object with `kernels`");
    try checkRefused("[]", "the file holds a list; expected an object with `kernels`");
    try checkRefused("{}", "`kernels` is missing");
    try checkRefused("{\"kernels\": 3}", "`kernels` is an integer; expected a list");
    try checkRefused("{\"kernels\": [7]}", "kernels[0] is an integer; expected an object");
    try checkRefused("{\n \"kernels\": [}", "2:14: no valid JSON (SyntaxError)");
    try checkRefused("{\"kernels\": []", "1:15: no valid JSON (UnexpectedEndOfInput)");
    try checkRefused("{\"kernels\": [], \"bin_dir\": \"../x\"}", "aot.json: `bin_dir` is no file name; expected letters, digits, - and _");
}

test "parse: a file over the engines' bound" {
    const text = try testing.allocator.alloc(u8, parse_module.bytes_max + 1);
    defer testing.allocator.free(text);
    @memset(text, ' ');
    try checkRefused(text, "the file has 16777217 bytes; expected at most 16777216, as engines read no more");
}

/// Replaces one text of the good set, and wants the message.
fn checkBroken(part: []const u8, replacement: []const u8, want: []const u8) !void {
    const text = try std.mem.replaceOwned(u8, testing.allocator, good, part, replacement);
    defer testing.allocator.free(text);
    try testing.expect(!std.mem.eql(u8, good, text));
    try checkRefused(text, want);
}

test "parse: a kernel with a missing or wrong field is named" {
    try checkBroken("\"hash\": \"AB-12\", ", "", "kernels[0]: `hash` is missing");
    try checkBroken("\"AB-12\"", "\"../AB\"", "kernels[0]: `hash` is no file name; expected letters, digits, - and _");
    try checkBroken("\"fn\": \"_g\"", "\"fn\": \"\"", "kernels[1]: `fn` is empty");
    try checkBroken("\"fn\": \"_g\"", "\"fn\": \"_g\\nalias\"", "kernels[1]: `fn` is no name: it holds a space or a control character");
    try checkBroken("\"shared\"", "\"requested\": {\"num_stages\": 3}, \"shared\"", "kernels[1].requested: `num_warps` is missing");
    try checkBroken("\"shared\"", "\"kinds\": {\"N\": \"f16\"}, \"shared\"", "kernels[1]: `kinds` holds `f16`; expected bool or f64");
    try checkBroken("\"shared\"", "\"texts\": {\"N\": 3}, \"shared\"", "kernels[1]: `texts` is no object of strings by name");
    try checkBroken("\"shared\"", "\"shared\": 0, \"shared\"", "6:31: no valid JSON (DuplicateField)");
    try checkBroken("\"num_warps\": 8", "\"num_warps\": 0", "kernels[1]: `num_warps` is 0; expected 1 to 64");
    try checkBroken("\"num_warps\": 8", "\"num_warps\": \"8\"", "kernels[1]: `num_warps` is a string; expected a whole number");
    try checkBroken("\"num_warps\": 8, ", "", "kernels[1]: `num_warps` is missing");
    try checkBroken("49152", "-1", "kernels[1]: `shared` is -1; expected 0 to 1073741824");
    try checkBroken("49152", "1.5", "kernels[1]: `shared` is a number that is no integer of 64 bits; expected a whole number");
    try checkBroken("\"pdl\": true", "\"pdl\": 1", "kernels[1]: `pdl` is an integer; expected true or false");
    try checkBroken("\"global_scratch\": 0", "\"global_scratch\": 128", "kernels[1] (_g): `global_scratch` is 128; expected 0, since engines give no scratch memory");
    try checkBroken("\"global_align\": 1", "\"global_align\": 2", "kernels[1] (_g): `global_align` is 2; expected 1, since engines give no scratch memory");
    try checkBroken("\"profile_scratch\": 0", "\"profile_scratch\": 4", "kernels[1] (_g): `profile_scratch` is 4; expected 0, since engines give no scratch memory");
}

test "parse: a param or constant that is wrong is named" {
    try checkBroken("\"params\": []", "\"params\": {}", "kernels[1]: `params` is an object; expected a list");
    try checkBroken("\"params\": [], ", "", "kernels[1]: `params` is missing");
    try checkBroken("\"params\": []", "\"params\": [null]", "kernels[1].params[0] is null; expected an object");
    try checkBroken(", \"nospec\": false", "", "kernels[0].params[0]: `nospec` is missing");
    try checkBroken("\"div16\": true", "\"div16\": 1", "kernels[0].params[0]: `div16` is an integer; expected true or false");
    try checkBroken("[{\"name\": \"X\"", "[{\"name\": \"X\", \"type\": \"i32\", \"div16\": false, \"nospec\": false}, {\"name\": \"X\"", "kernels[0].params[1]: a second param named `X`");
    try checkBroken("\"consts\": {}", "\"consts\": {\"a b\": {\"int\": 1}}", "kernels[1]: `consts` has a name that holds a space or a control character");
    try checkBroken("\"consts\": {}", "\"consts\": []", "kernels[1]: `consts` is a list; expected an object");
    const expected = ": expected exactly one of {\"int\": n}, {\"f32\": bits} and {\"none\": true}";
    try checkBroken("{\"int\": 1}", "1", "kernels[0].consts.N" ++ expected);
    try checkBroken("{\"int\": 1}", "{\"int\": true}", "kernels[0].consts.N" ++ expected);
    try checkBroken("{\"int\": 1}", "{\"int\": 1, \"none\": true}", "kernels[0].consts.N" ++ expected);
    try checkBroken("{\"int\": 1}", "{\"int\": 99999999999999999999}", "kernels[0].consts.N" ++ expected);
    try checkBroken("1031798784", "4294967296", "kernels[0].consts.S" ++ expected);
    try checkBroken("{\"none\": true}", "{\"none\": false}", "kernels[0].consts.M" ++ expected);
}

test "parse: more params than a kernel can have" {
    const spaces: [1024]u8 = @splat(' ');
    const zeros = try std.mem.replaceOwned(u8, testing.allocator, &spaces, " ", "0,");
    defer testing.allocator.free(zeros);
    const params = try std.mem.concat(testing.allocator, u8, &.{ "\"params\": [", zeros, "0]" });
    defer testing.allocator.free(params);
    try checkBroken("\"params\": []", params, "kernels[1]: `params` has 1025 items; expected at most 1024");
}

test "parse: objects and lists inside each other" {
    const brackets: [65]u8 = @splat('[');
    const ends: [65]u8 = @splat(']');
    try checkRefused(&brackets, "no valid JSON (it is nested too deeply)");
    try checkRefused(brackets[0..64] ++ ends[0..64], "the file holds a list; expected an object with `kernels`");
    // Within a string they are letters.
    try checkRefused("{\"\\\"" ++ &brackets ++ "\": 1}", "`kernels` is missing");
}

test "parse: random damage is taken or refused with a message, and none panics" {
    var prng: std.Random.DefaultPrng = .init(7);
    const random = prng.random();
    const letters = "{}[]\",:0123456789-.eE\\ntrufalsd \x00\xff";
    var refused: usize = 0;
    const texts_count = 1000;
    for (0..texts_count) |_| {
        var text = good.*;
        for (0..random.intRangeAtMost(usize, 1, 6)) |_| {
            text[random.uintLessThan(usize, text.len)] = letters[random.uintLessThan(usize, letters.len)];
        }
        var arena: std.heap.ArenaAllocator = .init(testing.allocator);
        defer arena.deinit();
        var diagnostic: parse_module.Diagnostic = .{};
        if (parse_module.parse(arena.allocator(), &text, &diagnostic)) |_| continue else |failure| {
            try testing.expectEqual(error.InvalidSet, failure);
            try testing.expect(diagnostic.message.len > 0);
            refused += 1;
        }
    }
    try testing.expect(refused > texts_count / 2 and refused < texts_count);
}

test "parse: every truncation is refused, none panics" {
    var length: usize = 1;
    while (length < good.len) : (length += 1) {
        var arena: std.heap.ArenaAllocator = .init(testing.allocator);
        defer arena.deinit();
        var diagnostic: parse_module.Diagnostic = .{};
        try testing.expectError(error.InvalidSet, parse_module.parse(arena.allocator(), good[0..length], &diagnostic));
        try testing.expect(diagnostic.message.len > 0);
    }
}
