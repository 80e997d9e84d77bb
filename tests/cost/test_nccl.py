"""What a library reaches: never more than the peak, the numbers of its sources, and the switch where it helps."""

import pytest

from lockstep.cost.collectives import REACHED, as_reached, collective_time, library_all_reduce
from lockstep.machines import find, names

N = 2**33


@pytest.mark.parametrize("name", sorted(REACHED))
def test_a_library_reaches_most_of_a_peak_and_never_more(name: str) -> None:
    peak, reached = find(name), as_reached(find(name))
    for promised, found in ((peak.inside, reached.inside), (peak.between, reached.between)):
        assert 0.7 < found.bandwidth / promised.bandwidth < 1
        assert (found.alpha, found.links) == (promised.alpha, promised.links)
    assert library_all_reduce(N, 8, peak, in_switch=False) > collective_time("all_reduce", N, range(8), peak)


def test_every_cluster_of_gpus_has_numbers_and_the_others_are_left_as_they_are() -> None:
    assert set(REACHED) <= set(names())
    laptop = find("laptop")
    assert as_reached(laptop) is laptop
    assert library_all_reduce(N, 8, laptop) == collective_time("all_reduce", N, range(8), laptop)


@pytest.mark.parametrize(("ranks", "through_each_port"), [(4, 5 / 4), (8, 9 / 8)])
def test_the_switch_halves_the_traffic_nearly(ranks: int, through_each_port: float) -> None:
    """Each GPU puts its tensor on the wire once, and its share of the sum: n + n/K."""
    cluster = find("h200")
    seconds = library_all_reduce(N, ranks, cluster) - 2 * cluster.inside.alpha
    assert seconds == pytest.approx(through_each_port * N / (18 * 20.6e9 * 0.85))
    assert seconds < library_all_reduce(N, ranks, cluster, in_switch=False)


def test_where_the_ring_is_faster_or_there_is_no_switch_the_ring_is_taken() -> None:
    blackwell, ampere = find("dgx-b200"), find("dgx-a100")
    assert library_all_reduce(N, 4, blackwell) == library_all_reduce(N, 4, blackwell, in_switch=False)
    assert library_all_reduce(N, 8, ampere) == library_all_reduce(N, 8, ampere, in_switch=False)
    assert library_all_reduce(N, 16, blackwell) == library_all_reduce(N, 16, blackwell, in_switch=False)
    assert library_all_reduce(N, 1, blackwell) == 0.0
