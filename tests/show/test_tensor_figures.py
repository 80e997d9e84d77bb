"""Figures of lesson 10 show what the library cuts, what runs did, and what the course has recorded."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from lockstep import show
from lockstep.errors import UsageError
from lockstep.show.heads import HEADS, times_there
from lockstep.show.heads import MANY as OF_HEADS
from lockstep.show.matrix_cuts import INPUTS, MANY, OUTPUTS, TOKENS, owner
from lockstep.tensor_parallel.across_nodes import RANKS, Size, spent
from lockstep.tensor_parallel.f_and_g import share

# ---- matrices


def whose(drawing: str, matrix: str) -> Counter[str]:
    """How many numbers of a matrix each rank has, in both ways together."""
    return Counter(re.findall(rf"<title>{matrix}, row \d, column \d: ([^<]+) ha[sv]e? it</title>", drawing))


@pytest.mark.parametrize("ranks", MANY)
def test_each_number_has_its_rank(ranks: int) -> None:
    drawing = show.matrix_cuts(ranks).svg()
    for r in range(ranks):
        columns, rows = (len(range(n)[share(n, ranks, r)]) for n in (OUTPUTS, INPUTS))
        assert whose(drawing, "A")[f"rank {r}"] == columns * INPUTS + rows * OUTPUTS
        assert whose(drawing, "X")[f"rank {r}"] == rows * TOKENS
    assert whose(drawing, "X")["every rank"] == TOKENS * INPUTS


def test_by_rows_each_rank_has_all_of_y() -> None:
    drawing = show.matrix_cuts(3).svg()
    summands = whose(drawing, "Y, a summand each") + whose(drawing, "Y")
    of_columns = Counter(owner(column, OUTPUTS, 3) for column in range(OUTPUTS))
    assert summands == {f"rank {r}": TOKENS * (OUTPUTS + of_columns[r]) for r in range(3)}


def test_a_picture_for_each_stop() -> None:
    figure = show.matrix_cuts(2)
    (slider,) = figure.sliders()
    assert slider.stops[slider.at] == "2"
    assert figure.sheets()[slider.at].frames[0] == figure.svg()
    with pytest.raises(UsageError, match="no picture of 5 ranks"):
        show.matrix_cuts(5)


# ---- heads


@pytest.mark.parametrize("kv_heads", OF_HEADS)
@pytest.mark.parametrize("ranks", OF_HEADS)
def test_each_head_is_there_once_and_keys_as_often_as_told(kv_heads: int, ranks: int) -> None:
    figure = show.heads(kv_heads, ranks)
    found = Counter(re.findall(r"<title>rank \d has ((?:q|kv) \d)</title>", figure.svg()))
    assert {name: n for name, n in found.items() if name[0] == "q"} == {f"q {i}": 1 for i in range(HEADS)}
    times = times_there(kv_heads, ranks)
    assert {name: n for name, n in found.items() if name[0] == "k"} == {f"kv {i}": times for i in range(kv_heads)}
    assert (f"on {times} ranks: its gradient is the sum" in figure.caption()) == (times > 1)


def test_heads_begin_where_they_are_told() -> None:
    figure = show.heads(4, 8)
    assert [slider.stops[slider.at] for slider in figure.sliders()] == ["4", "8"]
    assert figure.svg() in [sheet.frames[0] for sheet in figure.sheets()]
    for bad in ((3, 4), (2, 6)):
        with pytest.raises(UsageError, match="no picture"):
            show.heads(*bad)


# ---- two topologies


@pytest.mark.slow
def test_the_same_step_twice() -> None:
    size = Size(1, 512, 4096, 32)
    figure = show.inside_and_across(size)
    seconds = [spent(per_node, size=size).seconds for per_node in (RANKS, 1)]
    for name, spent_there in zip(("in a node", "a node each"), seconds, strict=True):
        assert f"{name}: {1e3 * spent_there:.1f} ms" in figure.caption()
    inside, across = (figure.lanes.trace.of_rank(lane) for lane in (0, 1))
    for lane, total in ((inside, seconds[0]), (across, seconds[1])):
        assert min(e.posted for e in lane) == 0
        assert max(e.end for e in lane) == pytest.approx(total)
    assert [(e.kind, e.name) for e in inside] == [(e.kind, e.name) for e in across]
    assert inside[0].kind == across[0].kind == "compute"  # before the first all-reduce
    assert sum(e.kind == "all_reduce" for e in inside) == 4
    assert "a node each: all_reduce" in figure.svg()


# ---- what is recorded


def test_stacks_are_the_formulas() -> None:
    drawing = show.kept_by_ranks().svg()
    assert drawing.count("503 MB alike") == 3  # with 2, 4 and 8 ranks
    assert "tensor, 8 ranks: 822 MB in parts" in drawing
    assert "sequence, 8 ranks: 885 MB in parts" in drawing
    assert "8 ranks: 1,325 MB, and 885 MB" in show.kept_by_ranks().caption()


def test_the_lowest_loss_stands_first() -> None:
    figure = show.losses_of_twelve()
    told = re.findall(r"<title>([^<]+), (right|wrong): ([\d.]+) to ([\d.]+)</title>", figure.svg())
    assert len(told) == 12
    last = [float(row[3]) for row in told]
    assert last == sorted(last)
    assert told[0][:2] == ("no f", "wrong")
    assert sum(row[1] == "right" for row in told) == 2
    assert all(float(row[2]) > float(row[3]) + 1 for row in told)
