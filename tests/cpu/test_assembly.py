"""The reader of machine code, on texts recorded for five kinds of machine.

They are what LLVM 20 makes of four kernels for SSE2 (a plain x86-64), AVX2 (haswell), AVX-512 (icelake-server, its wide
registers preferred), aarch64 (neoverse-n1) and a Mac (apple-m1). A learner may sit at any of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.cpu.assembly import Loop, calls, hottest, innermost_loops, is_readable

RECORDED = Path(__file__).parent / "assembly"
LANES = {"sse2": 4, "avx2": 8, "avx512": 16, "aarch64": 4, "apple": 4}  # float32 in a vector register
INTERLEAVED = {"sse2": 2, "avx2": 4, "avx512": 4, "aarch64": 2, "apple": 4}  # accumulators that LLVM makes of one


def loop(machine: str, kernel: str) -> Loop:
    found = hottest(innermost_loops((RECORDED / f"{machine}-{kernel}.s").read_text()))
    assert found is not None
    return found


@pytest.mark.parametrize("machine", LANES)
def test_a_sum_in_order_has_one_accumulator_and_no_vectors(machine: str) -> None:
    """On aarch64 LLVM multiplies four numbers at once, and then adds them one by one: that is still one at a time."""
    found = loop(machine, "dot_one_accumulator")
    assert (len(found.chains), found.chains[0].lanes, found.accumulators) == (1, 1, 1.0)


@pytest.mark.parametrize("machine", LANES)
def test_four_accumulators_are_four_chains(machine: str) -> None:
    found = loop(machine, "dot_four_accumulators")
    assert (len(found.chains), found.chains[0].lanes, found.accumulators) == (4, 1, 4.0)


@pytest.mark.parametrize("machine", LANES)
def test_fastmath_fills_the_lanes(machine: str) -> None:
    found = loop(machine, "dot_fastmath")
    assert found.chains[0].lanes == LANES[machine]
    assert found.register_bits == 32 * LANES[machine]
    assert len(found.chains) == found.accumulators == INTERLEAVED[machine]
    assert found.steps == 1
    assert found.stores == 0


@pytest.mark.parametrize("machine", LANES)
def test_saxpy_has_no_chain(machine: str) -> None:
    found = loop(machine, "saxpy")
    assert (found.lanes, found.element_bits, found.chains) == (LANES[machine], 32, [])
    assert found.loads
    assert found.stores


@pytest.mark.parametrize("machine", LANES)
def test_a_python_float_makes_it_float64(machine: str) -> None:
    found = loop(machine, "saxpy_float64")
    assert found.element_bits == 64
    assert found.lanes == LANES[machine] // 2
    assert found.chains == []


def test_other_machines_are_not_readable() -> None:
    assert not is_readable("main:\n\tld 3, 0(4)\n\tfadd 1, 1, 2\n\tblr\n")  # POWER
    assert all(is_readable(path.read_text()) for path in RECORDED.glob("*.s"))


def test_an_accumulator_that_changes_its_register_is_one_chain() -> None:
    """Unrolled twice, a compiler may write the sum to another register, and back."""
    text = "f:\n\tmovq %rdi, %rax\n.L1:\n\tvaddss (%rax,%rcx,4), %xmm0, %xmm1\n\tvaddss 4(%rax,%rcx,4), %xmm1, %xmm0\n"
    (found,) = innermost_loops(text + "\taddq $2, %rcx\n\tjne .L1\n")
    assert [c.steps for c in found.chains] == [2]


def test_an_accumulator_in_memory_is_a_chain_an_array_is_not() -> None:
    head = "f:\n\tmovq %rdi, %rax\n.L1:\n\tvmovss (%rax,%rcx,4), %xmm0\n"
    fixed = head + "\tvaddss (%rdx), %xmm0, %xmm0\n\tvmovss %xmm0, (%rdx)\n\tincq %rcx\n\tjne .L1\n"
    moving = head + "\tvaddss (%rdx,%rcx,4), %xmm0, %xmm0\n\tvmovss %xmm0, (%rdx,%rcx,4)\n\tincq %rcx\n\tjne .L1\n"
    assert [len(innermost_loops(text)[0].chains) for text in (fixed, moving)] == [1, 0]


def test_only_innermost_loops_count_and_wrappers_do_not() -> None:
    inner = ".L2:\n\taddsd (%rax), %xmm0\n\taddq $8, %rax\n\tjne .L2\n"
    nest = f"f:\n\tmovq %rdi, %rax\n.L1:\n\tmulsd %xmm1, %xmm1\n{inner}\tjne .L1\n"
    (found,) = innermost_loops(nest)
    assert [i.mnemonic for i in found.arithmetic] == ["addsd"]
    assert innermost_loops(nest.replace("f:", "_ZN7cpython1fE:")) == []


def test_a_register_that_is_cleared_begins_anew() -> None:
    body = "\tvxorps %xmm0, %xmm0, %xmm0\n\tvaddss (%rax,%rcx,4), %xmm0, %xmm0\n"
    text = f"f:\n\tmovq %rdi, %rax\n.L1:\n{body}\tincq %rcx\n\tjne .L1\n"
    assert innermost_loops(text)[0].chains == []


def test_what_is_called_is_named() -> None:
    assert "numba_xxdot" in calls("f:\n\tmovabsq\t$numba_xxdot, %rax\n\tcallq\t*%rax\n")


def test_comments_are_no_operands() -> None:
    """A `#` opens a comment on x86-64, a number on aarch64: the stores of a Mac's saxpy were taken for one place."""
    arm = innermost_loops("f:\nLBB0_1:\n\tldp\tq1, q2, [x12, #-32]\n\tfadd.4s\tv1, v1, v0 ; sum\n\tb.ne\tLBB0_1\n")[0]
    assert arm.instructions[0].operands == ("q1", "q2", "[x12, #-32]")
    assert arm.instructions[1].operands == ("v1", "v1", "v0")
    x86 = innermost_loops("f:\n.L1:\n\taddss\t%xmm1, %xmm0 # %rax\n\tjne\t.L1\n")[0]
    assert x86.instructions[0].operands == ("%xmm1", "%xmm0")


def test_a_jump_back_to_the_return_is_no_loop() -> None:
    """A counting kernel seemed to have one loop more, with a `retq` in it."""
    text = "f:\n\tjmp .L2\n.L1:\n\taddss %xmm1, %xmm0\n\tretq\n.L2:\n\tdecq %rax\n\tjle .L1\n"
    assert innermost_loops(text) == []
