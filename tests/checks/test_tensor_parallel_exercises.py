"""What the checks of layers in parts try, and what they say of a step: of its output, its gradients, and its cost."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from lockstep import checks
from lockstep.checks import find
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.load import load
from lockstep.checks.observation import Seen
from lockstep.checks.observe import observe
from lockstep.checks.recognise import _same
from lockstep.checks.seeds import seed
from lockstep.events import Event, Trace
from lockstep.exercises.tensor_parallel.differences import told_apart
from lockstep.exercises.tensor_parallel.layer_steps import MARK, alike, number, travels, turns
from lockstep.exercises.tensor_parallel.parallel_mlp.exercise import LAYER, cases, drawn
from lockstep.exercises.tensor_parallel.vocab_parallel_cross_entropy.exercise import LAYER as LOSS
from lockstep.tensor_parallel import f_and_g
from lockstep.tensor_parallel.f_and_g import share

REGIONS, MLP, ATTENTION, ENTROPY = (
    find(f"tensor_parallel.{name}")
    for name in ("regions", "parallel_mlp", "parallel_attention", "vocab_parallel_cross_entropy")
)
POSITIONS, BIAS = (find(f"tensor_parallel.{name}") for name in ("sequence_parallel", "mend_bias_added_k_times"))
K = 3
CASE: Case = cases(K, 1)[0]


def sequence_parallel_of_the_library(
    x: Tensor, weight: Tensor, bias: Tensor, A: Tensor, a: Tensor, B: Tensor, b: Tensor, group: Any = None
) -> Tensor:  # fmt: skip
    own = (slice(None), share(A.shape[1], dist.get_world_size(group), dist.get_rank(group)))
    weight, bias, b = f_and_g.copy_to_region(torch.stack([weight, bias, b]), group)
    whole = f_and_g.gather_from_sequence(functional.layer_norm(x, x.shape[-1:], weight, bias), group=group)
    inside = functional.gelu(whole @ A[own] + a[own[1]]) @ B[own[1]]
    return x + f_and_g.reduce_scatter_to_sequence(inside, group=group) + b


def norm_of_the_library(x: Tensor, weight: Tensor, bias: Tensor, group: Any = None) -> Tensor:
    weight, bias = f_and_g.copy_to_region(torch.stack([weight, bias]), group)
    return f_and_g.gather_from_sequence(functional.layer_norm(x, x.shape[-1:], weight, bias), group=group)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
@pytest.mark.parametrize(
    ("name", "answer"),
    [("sequence_parallel", sequence_parallel_of_the_library), ("mend_unsynced_layernorm", norm_of_the_library)],
)
def test_of_the_library_f_and_g_may_be_used_and_nothing_else(name: str, answer: Any, on: str) -> None:
    """The texts said so, and the other regions were open: the first of these had full points."""
    score = checks.check(f"tensor_parallel.{name}", answer, on=on)
    assert [f.misconception for f in score.findings] == ["library-call"], score.text()


def test_in_the_exercise_that_asks_for_f_and_g_they_are_shut() -> None:
    def borrowed(group: Any = None) -> Any:
        return f_and_g.regions(group)

    def by_name(group: Any = None) -> Any:
        return partial(f_and_g.copy_to_region, group=group), partial(f_and_g.reduce_from_region, group=group)

    for answer in (borrowed, by_name):
        score = checks.check("tensor_parallel.regions", answer)
        assert [f.misconception for f in score.findings] == ["library-call"], score.text()


def cases_of(exercise: Exercise) -> list[Case]:
    return [case for ranks in exercise.worlds for case in exercise.cases(ranks, seed(exercise.id, ranks))]


def step() -> list[dict[str, Any]]:
    """What each rank finds if all is right: of A, a and B the gradient of its part, and zero elsewhere."""
    out, (x, A, a, B, b) = LAYER.wanted(CASE)

    def part(whole: Tensor, r: int, dim: int) -> Tensor:
        mine = (slice(None),) * dim + (share(whole.shape[dim], K, r),)
        found = torch.zeros_like(whole)
        found[mine] = whole[mine]
        return found

    return [
        {"out": out.clone(), "followed": True, "gradients": [x, part(A, r, 1), part(a, r, 0), part(B, r, 0), b]}
        for r in range(K)
    ]


def said(found: list[dict[str, Any]]) -> tuple[str, str]:
    fault = LAYER.examine(Seen(CASE, tuple(found)))
    return (fault.misconception, fault.message) if fault else ("", "")


def test_a_step_like_one_ranks_is_right() -> None:
    assert said(step()) == ("", "")


def test_an_output_that_is_off() -> None:
    found = step()
    found[1]["out"][0, 0] += 1
    id, told = said(found)
    assert id == "wrong-values"
    assert "element 0 of rank 1" in told


def test_an_output_that_autograd_does_not_know() -> None:
    found = step()
    found[2]["followed"] = False
    id, told = said(found)
    assert id == "unknown-to-autograd"
    assert "rank 2" in told


def test_a_gradient_that_is_k_times_too_large_is_told_so() -> None:
    found = step()
    found[0]["gradients"][0] = K * found[0]["gradients"][0]
    id, told = said(found)
    assert id == "wrong-gradient"
    assert f"All of it is {K} times what it should be, as a sum of what {K} ranks have alike is." in told


def test_a_gradient_that_is_not_there() -> None:
    found = step()
    found[1]["gradients"][4] = None
    assert said(found) == (
        "no-gradient",
        f"With {CASE}: rank 1 finds no gradient of b: autograd knows no way from the output to b.",
    )


def test_of_a_part_that_is_empty_or_zero_no_gradient_is_as_good() -> None:
    found = step()
    whole = sum(mine["gradients"][2] for mine in found)
    assert isinstance(whole, Tensor)
    found[0]["gradients"][2] = None
    id, told = said(found)
    assert id == "wrong-gradient", "rank 0 has a part of a"
    assert "in the sum of all ranks' gradients of a" in told


def test_a_gradient_outside_of_the_own_part() -> None:
    found = step()
    found[1]["gradients"][1] = found[1]["gradients"][1] + 1
    id, told = said(found)
    assert id == "not-its-part"
    assert "rank 1 finds a gradient of A outside of its own columns of A" in told


def test_rounding_is_no_difference() -> None:
    found = step()
    for mine in found:
        mine["out"] *= 1 + 1e-12
        mine["gradients"][0] = mine["gradients"][0] * (1 - 1e-12)
    assert said(found) == ("", "")
    assert _same(alike(Seen(CASE, tuple(found))), alike(Seen(CASE, tuple(step()))))
    found[0]["out"] = found[0]["out"] + 1e-3
    assert not _same(alike(Seen(CASE, tuple(found))), alike(Seen(CASE, tuple(step()))))


def test_what_differs_is_counted() -> None:
    held = torch.tensor([1.0, 2.0, float("nan")])
    assert told_apart(held, torch.tensor([1.0, 2.5, 3.0]), 2) == "element 1 is 2, not 2.5 (2 of 3 elements differ)."
    assert told_apart(held[:2], held[:2].clone(), 2) == ""
    assert told_apart(torch.zeros(()), torch.ones(()), 2) == "element 0 is 0, not 1 (1 of 1 element differ)."


def event(rank: int, kind: str, at: float, nbytes: int = 24, group: tuple[int, ...] = (0, 1)) -> Event:
    return Event(rank, kind, at, at, nbytes, group=group)


def test_a_mark_is_a_broadcast_to_nobody_else() -> None:
    def mark(rank: int) -> Event:
        return event(rank, "broadcast", 2.0, MARK, (rank,))

    forward = [[event(r, "all_reduce", 1.0), event(r, "broadcast", 1.5, MARK)] for r in (0, 1)]
    backward = [[event(0, "all_gather", 3.0, 48)], [event(1, "barrier", 3.0, 0)]]
    rows = [*forward[0], mark(0), *backward[0], *forward[1], mark(1), *backward[1]]
    seen = Seen(Case(2, 0), trace=Trace.of(rows, 2))
    assert turns(seen) == [forward, backward]
    assert (number(seen, 0), number(seen, 1)) == (2, 1), "a barrier counts"
    assert travels(seen, 0) == 24 + MARK / 2
    assert travels(seen, 1) == 24, "a gather of 48 bytes is half of an all-reduce"


SKIPS = """
import torch.distributed as dist
from torch.nn.functional import gelu

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region


def parallel_mlp(x, A, a, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    A, a, B = A.tensor_split(K, 1)[r], a.tensor_split(K)[r], B.tensor_split(K)[r]
    out = gelu(copy_to_region(x, group) @ A + a) @ B if len(a) else b.new_zeros(len(x), len(b))
    return reduce_from_region(out, group) + b
"""


def test_who_waits_in_the_backward_pass_is_not_told_to_be_done(tmp_path: Path) -> None:
    """Who has no column does nothing, and the others wait in f. The check calls backward(), so no line there is the
    learner's, as in the mark between two cases."""
    (tmp_path / "skips.py").write_text(SKIPS)
    [case] = [case for case in MLP.cases(K, 1) if case.settings["m"] < K]
    [seen] = observe(MLP, load(tmp_path / "skips.py", MLP.function), cases=[case]).seen
    assert seen.failure
    assert seen.failure.kind == "Deadlock", seen.failure
    assert [(s.rank, s.state) for s in seen.failure.states] == [(0, "waiting"), (1, "waiting"), (2, "finished")]


LEAVES = """
import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import reduce_from_region


def mend_bias_added_k_times(x, B, b, group=None):
    own = x @ B.tensor_split(dist.get_world_size(group))[dist.get_rank(group)]
    return reduce_from_region(own, group) + b if x.numel() else own + b
"""


def test_a_rank_without_columns_that_leaves_is_waited_for(tmp_path: Path) -> None:
    """All ranks had columns in each case, so nobody ever left."""
    (tmp_path / "leaves.py").write_text(LEAVES)
    [finding] = checks.check_file(BIAS.id, tmp_path / "leaves.py").findings
    assert finding.misconception == "crashed:Deadlock", finding


# ---- what is tried


@pytest.mark.parametrize("exercise", [MLP, POSITIONS, BIAS], ids=lambda e: e.function)
def test_a_rank_with_an_empty_part_is_tried(exercise: Exercise) -> None:
    """In the others of this unit each rank has something: their texts say so."""
    assert any(case.settings["m"] < case.size for case in cases_of(exercise))


@pytest.mark.parametrize("exercise", [REGIONS, MLP, ATTENTION, ENTROPY], ids=lambda e: e.function)
def test_each_is_tried_on_one_rank_and_in_a_group(exercise: Exercise) -> None:
    tried = cases_of(exercise)
    assert any(case.size == 1 for case in tried)
    assert any(case.group and case.members[0] > 0 for case in tried)
    assert len({str(case) for case in tried}) == len(tried)


def test_what_an_mlp_is_tried_with() -> None:
    tried = cases_of(MLP)
    sizes = [(case.settings["n"], case.settings["h"], case.settings["m"], case.size) for case in tried]
    assert any(m % K for *_, m, K in sizes)
    assert any(m < K for *_, m, K in sizes), "a rank with nothing to do"
    assert any(m == K > 1 for *_, m, K in sizes)
    assert any(n == 1 for n, *_ in sizes)
    assert any(h == 1 for _, h, *_ in sizes)
    assert any(case.settings["constant"] == "x" for case in tried)
    b = drawn(tried[-1])[-1]
    assert b.abs().max() > 5, "a bias that is added too often is no rounding"


def test_which_heads_are_tried() -> None:
    tried = {(case.settings["H"], case.settings["G"], case.size) for case in cases_of(ATTENTION)}
    assert {(6, 2, 1), (4, 4, 2), (5, 5, 3), (6, 3, 2), (8, 2, 4), (4, 1, 4), (8, 1, 8)} <= tried
    sizes = [(case.settings["T"], case.settings["d"]) for case in cases_of(ATTENTION)]
    assert (1, 1) in sizes
    assert all(case.settings["h"] != case.settings["H"] * case.settings["d"] for case in cases_of(ATTENTION))


def test_which_scores_are_tried() -> None:
    tried = cases_of(ENTROPY)
    given = [[LOSS.inputs(case, rank)[:3] for rank in case.members] for case in tried]
    assert any(len({scores.shape[1] for scores, *_ in ranks}) == 2 for ranks in given), "parts that differ by one"
    assert all(scores.shape[1] for ranks in given for scores, *_ in ranks)
    assert any(scores.shape[1] == 1 for ranks in given for scores, *_ in ranks)
    assert any(len(targets) == 1 for ranks in given for _, targets, _ in ranks)
    here = [[((first <= t) & (t < first + s.shape[1])).sum().item() for s, t, first in ranks] for ranks in given]
    assert all(sum(row) == len(ranks[0][1]) for row, ranks in zip(here, given, strict=True))
    assert any(row[0] == 0 for row in here)
    assert any(row[-1] == 0 for row in here)
    peaks = [[scores.mean().item() for scores, *_ in ranks] for ranks in given]
    assert any(min(row) < -5000 and max(row) > 5000 for row in peaks)
    rows = [torch.cat([scores for scores, *_ in ranks], 1).amax(1) for ranks in given]
    assert any(row.max() > 5000 and row.min() < -5000 for row in rows), "the largest of all rows isn't enough"


def test_the_courses_f_and_g_are_no_answer_to_the_first_exercise(tmp_path: Path) -> None:
    """They are imported in the lab, for the exercises after it."""
    answer = tmp_path / "answer.py"
    answer.write_text(
        "from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region\n\n\n"
        "def regions(group=None):\n"
        "    return (lambda x: copy_to_region(x, group)), (lambda x: reduce_from_region(x, group))\n"
    )
    score = checks.check_file(REGIONS.id, answer, keep=False)
    assert [f.misconception for f in score.findings] == ["library-call"]


# ---- what a difference is


def test_a_bias_too_often_and_one_that_is_left_out_are_told_by_name() -> None:
    """ "Element 0 is 8.784, not 9.543" was all that these were told."""
    x, A, a, B, b = drawn(CASE)
    for out, told in (
        (LAYER.serial(x, A, a, B, b) + 2 * b, "Rank 0 has 2·b too much; all else is right there."),
        (LAYER.serial(x, A, a, B, b) - b / 2, "Rank 0 has 0.5·b too little; all else is right there."),
        (LAYER.serial(x, A, 0 * a, B, b), "It is right for zeros in place of a: is a used?"),
    ):
        found = [{**mine, "out": out} for mine in step()]
        fault = LAYER.examine(Seen(CASE, tuple(found)))
        assert fault
        assert fault.aside == told


def test_ranks_that_have_a_summand_of_a_gradient_are_told_so() -> None:
    found = step()
    for r, mine in enumerate(found):
        mine["gradients"][4] = mine["gradients"][4] * (r + 1) / 6
    id, told = said(found)
    assert id == "wrong-gradient"
    assert told.endswith("All ranks' together add up to it: each rank has a summand, and needs the sum.")
    for mine in found:
        mine["gradients"][4] = step()[0]["gradients"][4] / K
    assert "summand" not in said(found)[1], "an average adds up to the sum, too"


def test_two_numbers_that_differ_are_told_with_digits_that_do() -> None:
    """A gradient by way of float32 was told that its element is 0.173713, not 0.173713."""
    want = torch.tensor([1 / 3, 2 / 7], dtype=torch.float64)
    told = told_apart(want.float().double(), want, 2)
    assert "0.3333333 " not in told
    assert told.endswith("Is something float32 on the way? All numbers are float64.")


def test_what_one_rank_may_mistake_is_told_by_its_name() -> None:
    """ReLU in place of GeLU was told the first number that differs."""
    x, A, a, B, b = drawn(CASE)
    found = [{**mine, "out": (x @ A + a).relu() @ B + b} for mine in step()]
    fault = LAYER.examine(Seen(CASE, tuple(found)))
    assert fault
    assert fault.aside == "With ReLU, that would be right. The text has GeLU."


def test_a_sum_in_float32_is_no_sum() -> None:
    """x was a tensor of small whole numbers: g in float32 had all points."""

    def regions(group: Any = None) -> Any:
        class Copy(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Tensor) -> Tensor:
                return x.clone()

            @staticmethod
            def backward(ctx: Any, *dy: Tensor) -> Any:
                total = dy[0].clone()
                dist.all_reduce(total, group=group)
                return total

        class Sum(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Tensor) -> Tensor:
                total = x.float()
                dist.all_reduce(total, group=group)
                return total.double()

            @staticmethod
            def backward(ctx: Any, *dy: Tensor) -> Any:
                return dy[0]

        return Copy.apply, Sum.apply

    score = checks.check("tensor_parallel.regions", regions)
    assert [f.misconception for f in score.findings][:1] == ["wrong-values"], score.text()
    assert "float32" in score.text()
