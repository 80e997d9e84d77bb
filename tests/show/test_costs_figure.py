"""The curves are those of lockstep.cost, and cross where they say."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from lockstep.cost.algorithms import all_reduces
from lockstep.cost.fit import choose_algorithm
from lockstep.errors import UsageError
from lockstep.show import costs
from lockstep.show.costs import NAMES, Costs


@pytest.mark.parametrize("ranks", [2, 3, 12, 16, 1024])
def test_the_curves_are_the_formulas(ranks: int) -> None:
    model = Costs(1e-5, 1e-9, ranks, algorithms=tuple(NAMES))
    assert set(model.drawn) == set(all_reduces(ranks))
    for name in model.drawn:
        for nbytes in (0, 1, 1000, 10**8):
            exact = all_reduces(ranks)[name](nbytes, ranks, 1e-5, 1e-9).seconds
            assert model.seconds(name, nbytes) == pytest.approx(exact, rel=1e-9)


def test_tree_and_ring_cross_where_the_algebra_says() -> None:
    [crossing] = Costs(1e-5, 1e-9, 12).crossings
    # ⌈log₂K⌉(α + nβ) = (K-1)α + (K-1)/K·nβ for K = 12
    exact = (11 - 4) * 1e-5 / (1e-9 * (4 - 11 / 12))
    assert crossing.nbytes == pytest.approx(exact)
    assert (crossing.below, crossing.above, crossing.is_cheapest) == ("binomial_tree", "ring", True)


def test_the_strip_agrees_with_choose_algorithm() -> None:
    for ranks in (3, 8, 12, 100):
        for low, high, which in Costs(1e-5, 1e-9, ranks).regions():
            chosen = choose_algorithm(round((low * high) ** 0.5), ranks, 1e-5, 1e-9)
            assert {"tree": "binomial_tree"}.get(chosen, chosen) in which


def test_curves_that_coincide_do_not_cross() -> None:
    model = Costs(1e-5, 1e-9, 2)
    assert model.crossings == ()
    assert model.cheapest(1e6) == ("ring", "halving_doubling")


def test_halving_doubling_is_missing_where_it_does_not_exist() -> None:
    assert Costs(1e-5, 1e-9, 12).missing == ("halving_doubling",)
    assert "halving-doubling: only for powers of two" in costs(ranks=12).svg()


@pytest.mark.parametrize(
    "bad",
    [
        {"alpha": 0}, {"beta": -1}, {"alpha": float("nan")}, {"ranks": 1}, {"ranks": 5000}, {"low": 0},
        {"low": 10, "high": 5}, {"algorithms": ("gossip",)}, {"algorithms": ()},
    ],
    ids=str,
)  # fmt: skip
def test_values_without_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        costs(**bad)  # type: ignore[arg-type]


def test_every_stop_of_the_sliders_is_drawn_ahead() -> None:
    figure = costs(alpha=2e-5, ranks=12)
    alphas, betas, ranks = figure.sliders()
    assert (alphas.stops[alphas.at], betas.stops[betas.at], ranks.stops[ranks.at]) == ("20 µs", "1 GB/s", "12")
    sheets = figure.sheets()
    assert len(sheets) == len(alphas.stops) * len(betas.stops) * len(ranks.stops)
    here = (alphas.at * len(betas.stops) + betas.at) * len(ranks.stops)
    assert sheets[here + ranks.at].frames[0] == figure.svg()
    assert "16 ranks" in sheets[here + ranks.stops.index("16")].captions[0]


@pytest.mark.parametrize("ranks", [4, 12])
def test_what_the_pointer_reads_is_the_library_s_formula(ranks: int) -> None:
    alpha, beta, nbytes = 3e-5, 1e-10, 10**6
    read = costs(ranks=ranks).state()["reading"]["linear"][ranks]
    model = Costs(alpha, beta, ranks)
    assert set(read) == {NAMES[a] for a in model.drawn}
    for algorithm in model.drawn:
        messages, share = read[NAMES[algorithm]]
        assert messages * alpha + share * nbytes * beta == pytest.approx(model.seconds(algorithm, nbytes))


@pytest.mark.parametrize("ranks", [2, 3, 64, 4096])
@pytest.mark.parametrize("alpha", [1e-9, 1e-2])
def test_any_setting_gives_a_figure_within_its_frame(ranks: int, alpha: float) -> None:
    root = ElementTree.fromstring(costs(alpha, 1e-11, ranks).svg())
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for line in root.iter("{http://www.w3.org/2000/svg}polyline"):
        for point in line.get("points", "").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height
