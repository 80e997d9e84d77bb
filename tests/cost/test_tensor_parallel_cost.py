"""The formulas of tensor parallelism: by hand, and against the published table."""

import pytest

from lockstep.cost.collectives import collective_time
from lockstep.cost.tensor_parallel import (
    ALL_REDUCES,
    WAYS,
    activations,
    booked,
    booked_block,
    equal_traffic,
    parameters,
    published_activations,
    sent,
)
from lockstep.errors import UsageError
from lockstep.events import Count
from lockstep.models import Block, parameters_of
from lockstep.tables import published

FORMULAS = "korthikanti_activation_memory_formulas.csv"
OURS = {  # sequence, what is recomputed
    "tensor parallel (baseline)": (False, ""),
    "tensor+sequence parallel": (True, ""),
    "tensor parallel + selective recompute": (False, "selective"),
    "tensor+sequence+selective recompute": (True, "selective"),
    "full recompute": (False, "full"),
}
GPT_3 = {"s": 2048, "b": 1, "h": 12288, "a": 96, "t": 8}


def test_the_formulas_are_those_of_the_published_table() -> None:
    rows = {row["configuration"]: row["bytes_per_layer"] for row in published("tensor_parallel", FORMULAS)}
    sizes = [GPT_3["b"], GPT_3["s"], GPT_3["h"], GPT_3["a"]]
    for name, (sequence, again) in OURS.items():
        told = eval(rows[name], {}, GPT_3)
        assert published_activations(*sizes, 8, sequence, again) == pytest.approx(told), name
    assert published_activations(*sizes) == pytest.approx(eval(rows["no parallelism"], {}, GPT_3))


def test_selective_recomputation_saves_what_the_paper_says() -> None:
    """70 % for GPT-3 (5as/h = 80), 65 % for MT-NLG (64)."""
    for h, a, saved in ((12288, 96, 0.70), (20480, 128, 0.65)):
        kept = [published_activations(1, 2048, h, a, 8, True, again) for again in ("selective", "")]
        assert 1 - kept[0] / kept[1] == pytest.approx(saved, abs=0.005)


def test_ours_is_theirs_without_dropout_and_scores() -> None:
    """34 - 2 = 2·16 bytes, 10 - 2 = 2·4."""
    b, T, h = 2, 64, 4096
    for K in (1, 2, 8):
        theirs = published_activations(b, T, h, 32, K, again="selective") - 2 * b * T * h
        assert 2 * (activations(b, T, h, 0, K) - 4 * b * T) == pytest.approx(theirs)


def test_parameters_by_count() -> None:
    assert parameters(64, 1) == parameters_of(Block(64, 4, 0, 1))
    assert parameters(64, 4) == (12 * 64**2 + 7 * 64) // 4 + 6 * 64


def test_sequence_parallelism_sends_as_much_and_two_gathers() -> None:
    assert sent(2, 8, 16, 4) == sent(2, 8, 16, 4, "sequence, kept") == ALL_REDUCES * 2 * 3 / 4 * 256
    assert sent(2, 8, 16, 4, "sequence") == 10 * 3 / 4 * 256
    assert [sent(2, 8, 16, 1, way) for way in WAYS] == [0, 0, 0]


def test_bytes_of_the_whole_model() -> None:
    assert booked_block(2, 8, 16) == {"all_reduce": Count(4, 4 * 1024)}
    assert booked(2, 8, 16, 3, 8) == {"all_reduce": Count(12 + 2 + 3, 14 * 1024 + 3 * 64)}


def test_as_much_as_data_parallelism() -> None:
    """Of its 12·h² gradients."""
    h, K = 64, 4
    assert sent(1, equal_traffic(h), h, K) == 2 * (K - 1) / K * 12 * h * h


def test_an_all_reduce_is_its_two_halves() -> None:
    """By time, too: sequence parallelism costs no more."""
    from lockstep.machines import find

    cluster, n = find("dgx-a100"), 2**26
    halves = sum(collective_time(kind, n, range(8), cluster) for kind in ("reduce_scatter", "all_gather"))
    assert halves == pytest.approx(collective_time("all_reduce", n, range(8), cluster), rel=0.05)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: activations(1, 1, 1, 1, 1, "pipeline"),
        lambda: sent(1, 1, 1, 0),
        lambda: parameters(10, 3),
        lambda: published_activations(1, 1, 1, 1, again="all"),
    ],
)
def test_what_makes_no_sense_is_told(asked) -> None:
    with pytest.raises(UsageError):
        asked()
