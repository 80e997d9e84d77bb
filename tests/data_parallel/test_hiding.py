"""What arithmetic says of hiding an all-reduce is what happens in virtual time."""

import numpy as np
import pytest

from lockstep.cost.data_parallel import all_reduce_seconds, smallest_batch_that_hides, step_seconds
from lockstep.errors import UsageError
from lockstep.experiments.all_reduce_sgd.hiding import FLAT, HEAD, Flat, confirm, exposure


def small(ranks: int, alpha: float = 0.0, layers: int = 4) -> Flat:
    """Gradients of 1 MB, and a step of some milliseconds. Where alpha is 0 the ring is the best all-reduce."""
    return Flat(layers, width=256, rows=64, ranks=ranks, alpha=alpha, beta=1e-9, rate=1e12)


def test_flat_has_the_flops_and_bytes_of_its_layers() -> None:
    assert Flat(layers=3, width=10, rows=7).nbytes == 3 * 10 * 10 * 4
    assert Flat(layers=3, width=10, rows=7).flops == 3 * 2 * (7 * 2 * 10 * 10)  # two products a layer


@pytest.mark.slow
def test_the_batch_of_the_formula_hides_and_one_fewer_does_not() -> None:
    """The lab's cell: alpha and the cluster's own algorithms are in it, and move no example."""
    batch = smallest_batch_that_hides(*FLAT.asked)
    assert [exposure(b).hidden for b in (batch // 2, batch - 1, batch, 2 * batch)] == [False, False, True, True]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_without_alpha_the_formula_is_exact_for_any_number_of_ranks(ranks: int) -> None:
    flat = small(ranks)
    batch = smallest_batch_that_hides(*flat.asked)
    assert batch > 2
    assert not exposure(batch - 1, flat).hidden
    assert exposure(batch, flat).hidden


@pytest.mark.sampled(2)
@pytest.mark.parametrize("batch", [1, 7, 20])
def test_a_step_takes_what_the_arithmetic_of_buckets_says(batch: int) -> None:
    """Three ranks: there the best all-reduce is a ring, also with alpha."""
    flat = small(3, alpha=20e-6)
    found = exposure(batch, flat)
    layer, nbytes = batch * flat.flops / flat.rate / flat.layers, flat.nbytes // flat.layers
    gradients = [(layer * n, nbytes) for n in range(1, flat.layers + 1)]
    ends = step_seconds(gradients, nbytes, flat.ranks, flat.alpha, flat.beta)
    assert found.backward == pytest.approx(layer * flat.layers, rel=1e-6)
    assert found.backward + found.exposed == pytest.approx(ends, rel=1e-6)
    one = all_reduce_seconds(nbytes, flat.ranks, flat.alpha, flat.beta)
    assert found.all_reduces == pytest.approx([one] * flat.layers)


def test_one_rank_exposes_nothing() -> None:
    found = exposure(1, small(1))
    assert found.exposed == pytest.approx(0, abs=1e-7)
    assert found.hidden


@pytest.mark.slow
def test_a_function_is_asked_for_its_batch_and_the_table_has_half_and_twice_of_it() -> None:
    table = confirm(lambda *asked: 9 if asked == small(2).asked else 0, small(2))
    assert [row[0] for row in table.rows] == ["4", "8", "9", "18"]
    assert all(len(row) == len(HEAD) for row in table.rows)
    assert [row[0] for row in confirm(np.int64(1), small(2)).rows] == ["1", "2"]


def test_a_function_that_is_not_written_leaves_the_table_empty() -> None:
    def unwritten(*asked: float) -> int:
        raise NotImplementedError()

    assert confirm(unwritten).rows == []


@pytest.mark.parametrize("odd", [0, -3, 2.0, 10**30, lambda *asked: 2.5, lambda *asked: None])
def test_what_is_no_batch_is_told(odd: object) -> None:
    with pytest.raises(UsageError, match="A batch is a whole number"):
        confirm(odd)  # type: ignore[arg-type]
