"""What is read from PTX, and when generic code counts as narrower."""

from __future__ import annotations

import pytest

from build_capture.capture.policy.widths import access_widths, narrower

PTX = """
.visible .entry _k(.param .u64 .ptr .global .align 1 _k_param_0)
    ld.param.u64 %rd1, [_k_param_0];
    @%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];
    @%p1 ld.global.L1::evict_last.b16 { %rs1 }, [ %rd1 + 0 ];
    ld.global.nc.v2.u64 {%rd2, %rd3}, [%rd1];
    st.shared::cta.v2.f32 [ %r5 ], {%f1, %f2};
    st.volatile.shared.b8 [ %r5 ], %rs1;
    cp.async.cg.shared.global [ %r6 + 0 ], [ %rd4 + 0 ], 0x10, %r7;
    cp.async.ca.shared.global [ %r6 + 0 ], [ %rd4 + 0 ], 4;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r8];
    @%p2 atom.global.gpu.acq_rel.add.f32 %f3, [ %rd1 + 0 ], %f4;
    ld.local.b64 %rd9, [%rd10];
    mov.b32 %r9, %r10;
"""


def test_access_widths_counts_global_and_shared_accesses_by_kind_and_bits() -> None:
    assert access_widths(PTX) == {
        "atom.global.32": 1,
        "cp.async.128": 1,
        "cp.async.32": 1,
        "ld.global.128": 2,
        "ld.global.16": 1,
        "ldmatrix.128": 1,
        "st.shared.64": 1,
        "st.shared.8": 1,
    }


@pytest.mark.parametrize(
    ("generic", "specialized", "want"),
    [
        ({"ld.global.128": 2}, {"ld.global.128": 2}, ""),
        ({"ld.global.128": 2}, {"ld.global.32": 8}, ""),
        ({"ld.global.32": 8}, {"ld.global.128": 2}, "8 ld.global below 128 bits instead of 0"),
        ({"ld.global.16": 1, "ld.global.32": 1}, {"ld.global.32": 2}, "1 ld.global below 32 bits instead of 0"),
        # As many, but one of them twice as wide elsewhere: wider is no harm.
        ({"ld.global.32": 1, "st.global.64": 1}, {"ld.global.32": 1, "st.global.32": 2}, ""),
        ({"cp.async.32": 4}, {"cp.async.128": 1}, "4 cp.async below 128 bits instead of 0"),
        # Code that loads and stores in place of copying waits for each load, however wide.
        ({"ld.global.128": 1, "st.shared.128": 1}, {"cp.async.128": 1}, "0 bits copied asynchronously instead of 128"),
        ({"cp.async.128": 2}, {"cp.async.128": 1}, ""),
    ],
)
def test_narrower_names_the_accesses_that_lost_width(generic: dict[str, int], specialized: dict[str, int], want: str) -> None:
    assert narrower(generic, specialized) == want
