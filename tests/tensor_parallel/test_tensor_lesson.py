"""What the lesson on tensor parallelism says in sentences, and the tables into which it puts the learner's lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.cost.tensor_parallel import equal_traffic, published_activations
from lockstep.experiments.tensor_parallel import collectives_of_a_block, lecture_notes, notes_sample, users, your_line
from lockstep.grading.course import root
from lockstep.grading.material import material
from lockstep.tensor_parallel import recorded
from lockstep.tensor_parallel.across_nodes import figure_13, passed, spent
from lockstep.tensor_parallel.bugs import RIGHT, WRONG
from lockstep.tensor_parallel.f_and_g import share
from lockstep.tensor_parallel.overlapped import chunk_table
from lockstep.tensor_parallel.published import GPT_22B

PAGE = "course/10_tensor_parallel/model_parallelism.md"

# ---- lines


def test_lines_stand_beside_what_is_cut_and_counted() -> None:
    def own_part(n: int, ranks: int, rank: int) -> tuple[int, int]:
        mine = share(n, ranks, rank)
        return mine.start, mine.stop

    parts = your_line.parts_table(own_part).rows
    assert [row[1] for row in parts] == [row[2] for row in parts] == ["0 to 2", "3 to 5", "6 to 7", "8 to 9"]
    assert your_line.parts_table(lambda n, ranks, rank: (0, 0)).rows[0][1] == "none"
    kept = your_line.kept_table(lambda K, sequence: 34 / K if sequence else 10 + 24 / K).rows
    assert [row[3] for row in kept] == [row[4] for row in kept]
    assert ["tensor", "8", "13", "1,325", "1,325", "1,330"] in kept


@pytest.mark.slow
def test_a_block_all_reduces_four_numbers_for_each_of_its_input() -> None:
    rows = your_line.block_table(lambda examples, positions, width: 4 * examples * positions * width).rows
    assert [row[2] for row in rows] == [row[3] for row in rows]
    assert rows[-1][4] == "201"


# ---- the sentences


def test_six_short_all_reduces_are_two_biases_and_two_norms() -> None:
    found = collectives_of_a_block.whole_on_each()
    norms = [f"{norm}.{p}" for norm in ("before_attention", "before_mlp") for p in ("weight", "bias")]
    assert found == [*norms, "attention.out.bias", "mlp.down.bias"]


def test_the_notes_sum_and_gelu_before_it() -> None:
    assert your_line.halves_table().rows == [["X1·A1 + X1·A2", "100%"], ["X1·A1 + X2·A2", "rounding"]]
    assert [row[1] for row in your_line.gelu_table().rows] == ["rounding", "42%", "rounding"]


def test_an_mlp_has_one_all_reduce_in_each_pass_and_nothing_beside_it() -> None:
    step = your_line.an_mlp()
    mine = step.trace.of_rank(0)
    sums = [e for e in mine if e.kind == "all_reduce"]
    assert len(sums) == 2
    assert all(e.end <= s.posted + 1e-9 or e.start >= s.end - 1e-9 for s in sums for e in mine if e.kind == "compute")


def test_three_numbers_for_each_token() -> None:
    whole, sent = your_line.loss_bytes()
    assert (whole, sent) == (4 * 2048 * 51_200, 3 * 4 * 2048)
    assert whole // sent == 17_066


@pytest.mark.slow
def test_waiting_is_eleven_times_as_long_across_nodes_and_computing_as_long() -> None:
    inside, across = spent(8), spent(1)
    assert across.seconds / inside.seconds == pytest.approx(2.13, abs=0.01)
    assert (1e3 * inside.waiting, 1e3 * across.waiting) == (pytest.approx(1.3, abs=0.05), pytest.approx(14.4, abs=0.05))
    assert inside.seconds - inside.waiting == pytest.approx(across.seconds - across.waiting)
    assert passed(8).time == inside.seconds


def test_eight_ranks_are_best_in_both_batches() -> None:
    rows = figure_13().rows
    for batch in (2, 3):
        assert max(rows, key=lambda row: float(row[batch]))[0] == "8"


@pytest.mark.slow
def test_eight_chunks_are_best_of_those_shown() -> None:
    forward = {row[0]: float(row[1]) for row in chunk_table(counts=(0, 1, 8, 32)).rows}
    assert min(forward, key=lambda chunks: forward[chunks]) == "8"
    assert forward["1"] > forward["32"] > forward["8"]


def test_what_is_alike_is_503_mb() -> None:
    b, T, h, a, K = GPT_22B
    assert recorded.alike() == pytest.approx(503.3, abs=0.1)
    assert published_activations(b, T, h, a, 1) / 1e6 == pytest.approx(7080, abs=0.5)
    assert recorded.formula("tensor", K) == pytest.approx(
        recorded.formula("sequence", K) + recorded.alike() * (1 - 1 / K)
    )
    for one in recorded.kept():
        assert one.traced == pytest.approx(one.formula + 4.4, abs=0.3)


def test_other_masks_make_ranks_drift_apart() -> None:
    alike, own = your_line.masks_table().rows
    assert (alike[1:], own[2]) == (["0", "1 of 4"], "4 of 4")
    assert float(own[1]) > 0.1


def test_three_wrong_programs_have_lower_losses_and_three_are_seen_at_once() -> None:
    rows = recorded.losses()
    assert {row.program for row in rows} == {*RIGHT, *WRONG}
    (first,) = {row.first for row in rows if row.right}
    (best,) = {row.last for row in rows if row.right}
    assert [row.program for row in rows if row.last < best] == ["no_f", "in_order_of_ranks", "norms_on_rank_0"]
    assert {row.program for row in rows if row.first != first} == {
        "qkv_at_even_places", "first_token_for_others", "two_ranks",
    }  # fmt: skip
    assert {row.program for row in rows if (row.first, row.last) == (first, best)} == {
        *RIGHT, "eps_forgotten", "no_remainder", "whole_world",
    }  # fmt: skip


@pytest.mark.slow
def test_what_is_recorded_is_what_runs_give() -> None:
    """But for Python's own source, which differs from version to version: losses to a tenth."""
    kept = [line.rsplit(",", 1) for line in recorded.run_kept().splitlines() if line[0] in "ts"]
    assert [[f"{one.way},{one.K}", f"{one.traced:.1f}"] for one in recorded.kept()] == kept
    found = {
        name: float(last) for name, _, last in (line.split(",") for line in recorded.run_losses().splitlines()[4:])
    }
    for row in recorded.losses():
        assert found[row.program] == pytest.approx(row.last, abs=0.1)


# ---- the notes


@pytest.mark.slow
def test_slides_beside_our_count() -> None:
    rows = {row[0].split(" … ")[0]: row for row in lecture_notes.slides_table().rows}
    assert len(rows) == 9
    assert rows["Splitting by row"][1] == "100% off; X1·A1 + X2·A2: rounding"
    assert rows["The output requires all-reduce before activation"][1].startswith("all-reduces: 1 forward, 0 backward")
    assert rows["The output does not require all-reduce"][1] == "all-reduces: 0 forward, 1 backward"
    assert str(lecture_notes.all_reduces(lecture_notes.attention)) == "all-reduces: 1 forward, 1 backward"


@pytest.mark.slow
def test_corrections_beside_our_count() -> None:
    counts = [row[1] for row in lecture_notes.corrections_table().rows]
    assert counts[0] == "503 of 1,325 MB of a layer’s activations are alike on all 8 ranks"
    assert "GPT-3 2.8 TB, BERT-large 5.4 GB, ResNet-50 0.41 GB" in counts[2]
    assert float(counts[3].split()[-1]) < 1e-15
    assert counts[4] == "4 linear layers in a block, 2 all-reduces forward"
    assert counts[5].startswith("6.50 times")
    assert "201 MB" in counts[6]
    assert "in no module of its wheel" in counts[7]
    assert counts[8] == "each of 2 ranks holds 100% of the model; told first: 51%"


def test_what_is_told_after_groups_are_made_changes_nothing() -> None:
    late, early = notes_sample.sample()
    assert late == 1
    assert 0.5 < early < 0.6
    assert notes_sample.where("GPTModel") == "megatron.core.models.gpt.gpt_model"
    assert notes_sample.where("get_args") == ""


def test_users() -> None:
    by_name = {model.name: model for model in users.MODELS}
    for name, h, positions in (("GPT-3", 12288, 2048), ("BERT-large", 1024, 512), ("ViT-L/16", 1024, 197)):
        assert by_name[name].equal * positions == equal_traffic(h)
    assert by_name["ResNet-50"].equal < 3
    assert by_name["GPT-3"].weights / by_name["GPT-3"].parameters == pytest.approx(1, abs=0.01)
    assert by_name["ResNet-50"].weights < by_name["ResNet-50"].parameters
    assert by_name["GPT-3"].states > users.CARD > by_name["BERT-large"].states
    assert len(users.users_table().rows) == len(notes_sample.names_table().rows) / 4 == 4


# ---- the page


def test_the_page_is_a_learners_and_links_units_that_link_it() -> None:
    assert PAGE in material(root())
    page = (root() / PAGE).read_text(encoding="utf-8")
    for unit in ("08_fsdp", "09_pipeline", "11_mixture_of_experts"):
        lesson = Path(root() / "course" / unit / "lesson.py").read_text(encoding="utf-8")
        assert "(../10_tensor_parallel/model_parallelism.md)" in lesson
        assert f"(../{unit}/lesson.ipynb)" in page
    assert "(model_parallelism.md)" in (root() / "course/10_tensor_parallel/lesson.py").read_text(encoding="utf-8")
