"""What the lesson on mixtures of experts says in sentences, and the tables into which it puts the learner's lines."""

from __future__ import annotations

import pytest
import torch

from lockstep.cost.experts import booked, even_loads, sent, to_compute
from lockstep.cost.sharding import MIXED, bytes_of
from lockstep.experiments.mixture_of_experts import (
    depths,
    gates,
    gpt_on_ranks,
    lecture_notes,
    loads,
    quality,
    room,
    your_line,
)
from lockstep.experiments.mixture_of_experts.published import FLOPS_PER_EXAMPLE, row
from lockstep.experts import collapse, flops, gate, shared_expert, training
from lockstep.experts.balance import load_balancing_loss
from lockstep.experts.flops import NOTES, OPT, OPT_CONTEXT, OPT_VOCABULARY, dense_flops
from lockstep.experts.gate import top_k_gate
from lockstep.experts.gpt import MixtureGPT
from lockstep.experts.mixture_of_depths import block_flops, depth_flops, depths_table
from lockstep.experts.models_table import find, parts_table
from lockstep.experts.serial import NotesMixture


def top_k(scores, k):
    return sorted(range(len(scores)), key=lambda e: -scores[e])[:k]


def dropped(wanted, C):
    return sum(max(0, rows - C) for rows in wanted)


# ---- section 1


def test_the_notes_table_of_flops_differs_in_how_two_parts_share() -> None:
    for name, shape in OPT.items():
        counted = dense_flops(*shape, OPT_CONTEXT, OPT_VOCABULARY).shares
        theirs = NOTES[name]
        assert abs(counted[2] - theirs[2]) < 3
        assert abs(counted[3] - theirs[3]) < 3
        assert (abs(counted[0] - theirs[0]) < 2) == (name == "2.7B")
        assert abs(sum(counted[:2]) - sum(theirs[:2])) < 5
    assert sum(dense_flops(*OPT["175B"], OPT_CONTEXT, OPT_VOCABULARY).shares[:2]) > 95


# ---- sections 2 and 3


def test_the_notes_sample_computes_every_row_and_a_top_k_does_not() -> None:
    assert your_line.rows_of_experts(NotesMixture(16, 4), torch.ones(10, 16)) == 40
    notes, two, one = your_line.rows_table().rows
    assert [r[2] for r in (notes, two, one)] == ["40", "20", "10"]
    assert all(float(cell) < 1e-14 for r in (two, one) for cell in r[3:])


def test_a_watched_mixture_is_watched_once() -> None:
    mixture = NotesMixture(16, 4)
    assert [your_line.rows_of_experts(mixture, torch.ones(3, 16)) for _ in range(2)] == [12, 12]


def test_weights_after_and_before() -> None:
    rows = {(r[0], r[1]): r[2:] for r in your_line.weights_table().rows}
    assert rows["2", "after"] == ["0.73, 0.27", "1.00"]
    assert rows["2", "before"] == ["0.67, 0.24", "0.91"]
    assert rows["1", "after"] == ["1.00", "1.00"]
    higher = torch.tensor([[3.0, 1.0, 0.0]])
    told = [top_k_gate(higher, k, way)[1][0, 0].item() for k, way in ((1, "after"), (1, "before"), (2, "after"))]
    assert told == pytest.approx([1, 0.84, 0.88], abs=0.005), "what the quiz's sentences say"


def test_without_noise_nobody_goes_to_the_second() -> None:
    still, some, much = (list(map(int, r[1:])) for r in your_line.noise_table(top_k).rows)
    assert still == [1000, 0]
    assert 0 < some[1] < much[1]


# ---- sections 4 and 5


def test_the_collapse_of_the_figure_and_how_often_it_happens() -> None:
    last = {m.way: m for m in collapse.recorded()}
    assert max(last["without"].shares) == 1
    ends = {(e.rate, e.way, e.seed): e for e in quality.recorded()}
    assert ends[0.02, "without", 0].largest == pytest.approx(2 / 3, abs=0.02)
    assert all(ends[0.003, "without", seed].largest == pytest.approx(0.5, abs=0.03) for seed in quality.SEEDS)
    assert all(e.largest is None or e.largest < 0.4 for e in ends.values() if e.way != "without")


def test_seeds_differ_as_much_as_ways() -> None:
    for rate in quality.RATES:
        spans = {
            way: sorted(e.loss for e in quality.recorded() if (e.rate, e.way) == (rate, way)) for way in collapse.WAYS
        }
        assert max(span[0] for span in spans.values()) < min(span[-1] for span in spans.values()), "they overlap"


def test_the_recorded_losses_are_what_is_written() -> None:
    assert quality.written(quality.recorded()).count("\n") == 4 + 1 + 12
    assert [r[1].partition(":")[0] for r in quality.quality_table().rows] == [*collapse.WAYS] * 2


@pytest.mark.slow
def test_what_there_is_room_for_grows_with_experts_at_equal_flops() -> None:
    """Fewer pairs and steps than those recorded: one expert lacks room, and four have more."""
    one, four = (room.learned(E, steps=150, pairs=1024) for E in (1, 4))
    assert one < 0.85 * four
    assert room.key_flops(1)[0] == room.key_flops(16)[0] > 10 * room.key_flops(16)[1]


def test_the_recorded_pairs_are_what_the_table_shows() -> None:
    shares = {run.experts: run.share for run in room.recorded()}
    assert list(shares) == list(room.EXPERTS)
    assert list(shares.values()) == sorted(shares.values())
    assert shares[1] < 0.15
    assert shares[16] > 0.99
    assert len(room.written(room.recorded()).splitlines()) == 3 + 1 + 10


def test_a_bias_moves_the_choice_and_not_the_weight() -> None:
    scores = torch.tensor([[2.0, 1.0, 0.0]])
    plain, biased = (gates.bias_gate(scores, torch.tensor([0, 0, b]), 2) for b in (0.0, 0.4))
    assert plain[0].tolist() == [[0, 1]]
    assert biased[0].tolist() == [[2, 0]]
    s = scores.sigmoid()[0]
    assert biased[1][0].tolist() == pytest.approx([(s[2] / (s[0] + s[2])).item(), (s[0] / (s[0] + s[2])).item()])
    assert gates.llama_gate(scores, 1)[1].item() == pytest.approx(0.88, abs=0.005), "the score counts, with k = 1 too"
    assert len(gates.today_table().rows) == 5


def test_a_bias_evens_out_the_loads() -> None:
    """50 steps of five lines, each on tokens that the bias has not seen."""
    first, *_, last = ([float(cell) for cell in row[1:]] for row in gates.balanced_table().rows)
    assert (first[0], last[0]) == (5.12, 1.10)
    assert first[1] < 0.1 < 0.85 < last[1]


def test_losses_and_the_quiz_of_two_ranks() -> None:
    even, one, larger = your_line.losses_table().rows
    assert (even[2], one[2], larger[2]) == ("1.00", "8.00", "8.00")
    assert float(larger[3]) > 3 * float(one[3])
    wanted = torch.tensor([0] * 6 + [1] * 6)
    scores = 50.0 * torch.nn.functional.one_hot(wanted, 2)
    alone = [load_balancing_loss(scores[part], wanted[part, None]).item() for part in (slice(6), slice(6, None))]
    assert alone == pytest.approx([2, 2])
    assert load_balancing_loss(scores, wanted[:, None]).item() == pytest.approx(1)


def test_drops_by_the_line_are_those_that_are_counted() -> None:
    found = your_line.dropped_table(dropped, MixtureGPT(4)).rows
    assert [r[4] for r in found] == [r[5] for r in found]
    assert len(found) == 6
    by_place, by_weight = your_line.priority_table().rows
    assert by_place[1] == by_weight[1] == found[0][5]
    assert float(by_weight[3]) < float(by_place[3])
    assert float(by_place[2]) > gate.capacity(1, 512, 1, 2), "in the later half"


@pytest.mark.slow
def test_blanks_and_vowels_go_to_experts_of_their_own() -> None:
    kinds = training.shares_of_kinds(training.bytes_of_experts(training.trained().model))
    (blanks, most_blanks), (vowels, most_vowels) = (
        max(enumerate(of_kind[kind] for of_kind in kinds), key=lambda one: one[1]) for kind in ("blanks", "vowels")
    )
    assert blanks != vowels
    assert min(most_blanks, most_vowels) > 0.5


# ---- sections 6 and 7


@pytest.mark.slow
def test_four_all_to_alls_of_tokens_and_their_bytes() -> None:
    assert gpt_on_ranks.on(2).exchanged.number == 1 + 4
    even = even_loads(4, 8, 1024, 2)
    assert booked(even, 1024)[0].nbytes / 1e6 == pytest.approx(33.6, abs=0.05)
    assert sent(even, 1024)[0] / booked(even, 1024)[0].nbytes == pytest.approx(3 / 4, abs=0.001)


def test_half_of_all_tokens_for_one_expert() -> None:
    even, skewed = (loads.loaded(n) for n in (even_loads(8, 8, 4096), loads.skewed(8, 8, 4096, 1 / 2)))
    assert skewed.time / even.time == pytest.approx(3.96, abs=0.005)
    compute = [sum(e.end - e.start for e in r.trace.of_rank(0) if e.kind == "compute") / r.time for r in (even, skewed)]
    assert min(compute) > 0.95, "computing takes nearly all of the step"
    assert "pale" in skewed.show().svg()


def test_a_line_in_the_table_of_imbalance() -> None:
    found = loads.imbalance_table(line=lambda rows: max(rows) * len(rows) / sum(rows))
    assert [r[1] for r in found.rows] == [r[2] for r in found.rows] == ["1.00", "2.00", "4.00", "8.00"]
    assert len(loads.imbalance_table().head) == len(found.head) - 1


def test_to_travel_by_to_compute() -> None:
    across = to_compute(1, 8, 4096, 312e12, 25e9, 2)
    assert across == pytest.approx(0.296, abs=0.0005)
    assert to_compute(1, 8, 4096, 312e12, 300e9, 2) == pytest.approx(0.0247, abs=0.00005)
    told = (across * 8 / 7, across / 2, across * 3, 1 / across)
    assert told == pytest.approx((0.339, 0.148, 0.887, 3.38), rel=0.004), "what known mistakes give"


# ---- sections 8 and 9


def test_what_a_token_meets_of_maverick() -> None:
    maverick = find("LLaMA-4 Maverick")
    of_experts = 2 * maverick.with_experts * maverick.expert
    assert (maverick.active - of_experts) / 1e9 == pytest.approx(11.1, abs=0.05)
    assert of_experts / 1e9 == pytest.approx(6.0, abs=0.05)
    assert (maverick.total - maverick.active) / 1e9 == pytest.approx(384, abs=0.5)
    assert parts_table("LLaMA-4 Maverick").rows[-1][-1] == "401 B"


def test_dense_models_are_active_in_all_of_their_parameters() -> None:
    for name in ("PaLM-540B", "LLaMA-65B"):
        model = find(name)
        assert model.active == model.total == pytest.approx(model.published[0], rel=0.005)


def test_states_of_deepseek_v3() -> None:
    """Its report keeps moments in bfloat16. The quiz once took 16 bytes: "at least 10.7 TB", which is false."""
    model, each = find("DeepSeek-V3"), 4 + 4 + 2 + 2
    assert bytes_of(MIXED).total == 16
    assert model.total * each / 1e12 == pytest.approx(8.05, abs=0.01)
    mistakes = (model.active * each, model.total * 16, model.total * 4, (model.total - model.active) * each)
    assert [n / 1e12 for n in mistakes] == pytest.approx([0.451, 10.7, 2.68, 7.6], rel=0.005)


def test_a_token_meets_one_row_of_the_first_embedding() -> None:
    maverick = find("LLaMA-4 Maverick")
    assert maverick.embeddings == 2 * 202_048 * 5120
    assert (maverick.active - maverick.embeddings // 2) / 1e9 == pytest.approx(16.1, abs=0.05)
    assert maverick.with_experts * maverick.experts * maverick.expert / 1e9 == pytest.approx(387, abs=0.5)


def test_the_notes_ratio_grows_and_the_counted_one_does_not() -> None:
    small, large = (flops.opt_flops(size) for size in ("760M", "175B"))
    assert large.ffn / large.projections == small.ffn / small.projections == 2
    told = [NOTES[size][1] / NOTES[size][0] for size in ("760M", "175B")]
    assert told == pytest.approx([1.26, 4.7], abs=0.01)
    assert OPT["175B"][1] == 8 * OPT["760M"][1]


def test_mixture_of_depths_looks_ahead() -> None:
    assert depths.changed_by_the_end() > 50


def test_switch_is_slower_than_t5_base_and_sooner_than_t5_large() -> None:
    switch, large = row("Switch-Base", 1.0), row("T5-Large")
    assert switch.examples < row("T5-Base").examples
    assert switch.hours < large.hours
    assert FLOPS_PER_EXAMPLE["T5-Large"] / FLOPS_PER_EXAMPLE["T5-Base"] == pytest.approx(3.4, abs=0.05)


def test_the_notes_beside_our_count() -> None:
    told = {r[0]: r[1] for r in lecture_notes.corrections_table().rows}
    assert len(told) == 10
    counts = " | ".join(told.values())
    for count in ("40 rows of experts for 10 tokens", "17.2 B; 14.2 B without one expert", "32.3 / 64.6 / 2.7 / 0.3 %",
                  "801 GB, of which a token meets 34", "3 of the four", "65.3 B of 65.3 B", "540 B of 540 B", "1991",
                  "7.5 times fewer steps; 0.625 of its examples/s; 2.09 times"):  # fmt: skip
        assert count in counts, count


@pytest.mark.slow
def test_a_shared_expert_shortens_the_wait_and_changes_nothing() -> None:
    then, first = shared_expert.overlap_table().rows
    assert float(first[2]) < float(then[2])
    assert float(first[1]) < float(then[1])
    assert first[3] == "0"


def test_an_eighth_of_the_tokens_is_less_than_an_eighth_of_the_flops() -> None:
    assert depth_flops(2048, 2048, 1 / 8) / block_flops(2048, 2048) == pytest.approx(0.109, abs=0.0005)
    assert next(float(r[1]) for r in depths_table().rows) > 1


def test_parameters_grow_with_experts_and_flops_hardly() -> None:
    first, *_, last = flops.growth_table().rows
    assert float(last[1]) > 100 * float(first[1])
    assert float(last[3]) < 1.01
