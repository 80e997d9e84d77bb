"""Published rows with one value to be found, and some others left out: what follows from one rule, from several, or not
at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

from lockstep.planner.missing_axis import ASKED, Row, missing_axis, published_rows

Call = tuple[Row]


@cache
def rows(table: str) -> list[dict[str, int | None]]:
    """Those of a table whose axes divide what they should, most of which are printed."""
    return [row for row in published_rows()[table] if holds(row)]


def holds(row: dict[str, int | None]) -> bool:
    """Whether what follows from a row gives the row again."""
    printed = {key: value for key, value in row.items() if value is not None}
    return all(missing_axis({**row, key: ASKED}) in (None, value) for key, value in printed.items())


def gap(row: dict[str, int | None], asked: str, *without: str) -> Call:
    return ({**row, **dict.fromkeys(without), asked: ASKED},)


def some(table: str, asked: Sequence[str], dice: Random, without: Sequence[str] = (), number: int = 1) -> list[Call]:
    """For each that is asked, so many rows, in which it isn't 1."""
    among = {key: [row for row in rows(table) if row[key] != 1] or rows(table) for key in asked}
    return [gap(row, key, *without) for key in asked for row in dice.sample(among[key], number)]


def megatron(dice: Random) -> list[Call]:
    asked = ("tp", "pp", "dp", "gpus", "micro_batch", "micro_batches", "batch", "tokens")
    return some("Megatron-LM, 2021", asked, dice)


def llama(dice: Random) -> list[Call]:
    asked = ("tp", "cp", "pp", "dp", "batch", "seq", "tokens")
    return some("Llama 3", asked, dice) + [gap(row, key) for row in rows("Llama 3") for key in ("cp", "tokens")]


def with_experts(dice: Random) -> list[Call]:
    """Where ep is in no product: each copy is more ranks than ep."""
    found = [row for row in rows("Megatron-Bridge") if (row["ep"] or 1) > 1]
    return [gap(row, key) for key in ("dp", "micro_batches", "tokens") for row in dice.sample(found, 2)]


def cut_sequences(dice: Random) -> list[Call]:
    """Rows of our own, where the ranks that share a sequence are no copies."""
    found = []
    for asked in ("dp", "micro_batches", "batch", "cp", "tokens"):
        tp, cp, pp, dp = (dice.choice(sizes) for sizes in ((1, 4, 8), (2, 4), (1, 3), (5, 6)))
        b, m, seq = dice.choice((1, 2)), dice.choice((8, 15)), dice.choice((32_768, 131_072))
        row: dict[str, int | None] = {"gpus": tp * cp * pp * dp, "tp": tp, "cp": cp, "pp": pp, "dp": dp, "ep": None}
        row |= {"micro_batch": b, "micro_batches": m, "batch": dp * b * m, "seq": seq, "tokens": dp * b * m * seq}
        found.append(gap(row, asked, *({"dp"} if asked in ("cp", "micro_batches") else ())))
    return found


def two_rules(dice: Random) -> list[Call]:
    asked = some("Megatron-LM, 2021", ("tp", "pp", "gpus"), dice, without=["dp"])
    return [
        *asked,
        *some("Megatron-LM, 2021", ("micro_batches", "batch"), dice, without=["dp"]),
        *with_experts(dice)[2:4],
    ]


def three_rules(dice: Random) -> list[Call]:
    """tokens give the batch, the batch dp, and dp an axis; and the other way round."""
    found = []
    for row in dice.sample(rows("Megatron-LM, 2021"), 4):
        whole = {**row, "tokens": (row["batch"] or 0) * (row["seq"] or 0)}
        found += [gap(whole, dice.choice(("tp", "pp")), "dp", "batch"), gap(whole, "tokens", "dp", "batch")]
        found += [gap(whole, "seq", "dp", "batch")]
    return found


def does_not_follow(dice: Random) -> list[Call]:
    found = some("Megatron-LM, 2021", ("tp", "gpus"), dice, without=["dp", "micro_batches"])
    found += some("Megatron-LM, 2021", ("dp", "pp"), dice, without=["cp", "micro_batch"])
    found += some("Llama 3", ("micro_batch", "micro_batches", "ep"), dice)
    return found + some("Megatron-Bridge", ("ep",), dice, number=3)


def one_gpu(dice: Random) -> list[Call]:
    row: dict[str, int | None] = dict.fromkeys(rows("Llama 3")[0], 1)
    return [gap(row, "dp"), gap(row, "batch")]
