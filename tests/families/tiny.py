"""A family of one kernel, written for one test."""

from __future__ import annotations

from pathlib import Path

from tests.families.harness import Family

DECLARATIONS = """const std = @import("std");
const cuda = @import("cuda");
const aot = cuda.aot;

pub const Tri = struct {{
    set: *const aot.Set,
    s: cuda.Stream,

    pub fn tiny(t: Tri, {parameters}) !void {{
        try t.set.run(t.s, "_tiny", .{{ 1, 1, 1 }}, &.{{{arguments}}}, &.{{{constexprs}}});
    }}
}};
"""

PROFILE = """.{{
    .family = "tiny",
    .declarations = "triton.zig",
    .kernels = "kernels",
    .target = "sm_121",
    .limits = .{{ .parallel = {parallel}, .window_rows = 1, .prompt_rows = 0 }},
    .geometry = .{{ .width = 8192 }},
    {fields}
}}
"""

KERNEL = """import triton
import triton.language as tl

{before}
@triton.jit{decorator}
def _tiny({signature}):
    tl.static_assert(True)
"""


def write_tiny(
    folder: Path,
    zig: str,
    cache: Path,
    *,
    parameters: str = "n: usize",
    arguments: str = 'aot.int("N", @intCast(n))',
    constexprs: str = "",
    domains: str | None = None,
    fields: str = "",
    signature: str = "N",
    decorator: str = "",
    before: str = "",
    parallel: int = 1,
) -> Family:
    """Write the family. `domains` is what stands in the profile's `.domains`; `decorator` what follows `@triton.jit`."""
    given = fields if domains is None else f".domains = .{{ {domains} }},\n    {fields}"
    files = {
        "triton.zig": DECLARATIONS.format(parameters=parameters, arguments=arguments, constexprs=constexprs),
        "capture.zon": PROFILE.format(parallel=parallel, fields=given),
        "kernels/tiny.py": KERNEL.format(signature=signature, decorator=decorator, before=before),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Family(folder, zig, cache)
