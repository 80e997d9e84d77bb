"""Twelve plans for a few models, each with its reason; and random ones, half of which are near a limit."""

from __future__ import annotations

from random import Random
from typing import Any

from lockstep.planner.infeasible import held_bytes, why_infeasible

Call = tuple[dict[str, int], dict[str, int], dict[str, Any]]
GPT3 = {"layers": 96, "hidden": 12288, "heads": 96, "seq": 2048, "parameters": 175_000_000_000, "batch": 1536}
GPT39 = {"layers": 48, "hidden": 8192, "heads": 64, "seq": 2048, "parameters": 39_100_000_000, "batch": 1536}
SMALL = {"layers": 36, "hidden": 4096, "heads": 32, "seq": 2048, "parameters": 7_500_000_000, "batch": 512}
LONG = {**SMALL, "seq": 8192, "batch": 96}
GB = 10**9


def call(model: dict[str, int], gpus: int, tp: int, pp: int, dp: int, b: int = 1, zero: int = 0,
         recompute: bool = False, node: int = 8, memory: int = 80) -> Call:  # fmt: skip
    plan = {"tp": tp, "pp": pp, "dp": dp, "micro_batch": b, "zero": zero, "recompute": recompute}
    return dict(model), {"gpus": gpus, "node": node, "memory": memory * GB}, plan


DIVISIBILITY = [call(GPT3, 96, 8, 12, 2), call(GPT3, 640, 8, 20, 4, recompute=True), call(SMALL, 48, 6, 2, 4, node=6)]
BATCH = [call(GPT39, 640, 8, 8, 10, recompute=True), call(SMALL, 24, 1, 1, 24, 16, 1), call(SMALL, 64, 2, 1, 32, 32, 1)]
LINK = [
    call(GPT3, 192, 16, 12, 1, recompute=True),
    call(GPT39, 256, 4, 4, 16, node=2),
    call(SMALL, 16, 4, 1, 4, node=6),
]
MEMORY = [
    call(GPT39, 16, 8, 2, 1, recompute=True, memory=40), call(SMALL, 512, 1, 1, 512, 1, 1, recompute=True, memory=40),
    call(GPT39, 1536, 1, 4, 384, 1, 2, recompute=True, memory=16), call(LONG, 16, 8, 2, 1, memory=40),
    call(SMALL, 64, 1, 1, 64, 8, 3, memory=80),
]  # fmt: skip
OF_EQUAL_ONES = {**SMALL, "batch": 96}
EQUAL = [
    call(OF_EQUAL_ONES, 3, 1, 1, 3, 1, 1, True, memory=40), call(OF_EQUAL_ONES, 6, 1, 1, 6, 1, 2, True, memory=20),
    call(OF_EQUAL_ONES, 12, 2, 1, 6, 1, 2, True, memory=10),
]  # fmt: skip
RUNS = [call(GPT3, 96, 8, 12, 1, recompute=True), call(SMALL, 32, 4, 1, 8, 1, 1), call(LONG, 32, 8, 1, 4, 1, 1, True)]
TWELVE = [*DIVISIBILITY[:2], *BATCH[:2], *LINK[:2], *MEMORY[:4], *RUNS[:2]]


def several_reasons(dice: Random) -> list[Call]:
    """More than one thing is wrong: the first counts."""
    return [
        call(GPT3, 100, 8, 12, 7), call(SMALL, 48, 16, 1, 3, 1), call(GPT3, 160, 16, 2, 5), call(GPT39, 32, 16, 2, 1),
        call(SMALL, 80, 16, 1, 5),
    ]  # fmt: skip


def near_the_limit(dice: Random) -> list[Call]:
    """As many bytes as a GPU has, or one less than it needs, with all that shares out and recomputes."""
    found = []
    for model, gpus, tp, pp in ((GPT3, 1536, 8, 16), (GPT39, 512, 4, 4), (SMALL, 64, 2, 2), (LONG, 16, 8, 2)):
        for zero in range(4):
            b, recompute = dice.choice((1, 2)), dice.random() < 0.5
            m, cluster, plan = call(model, gpus, tp, pp, gpus // (tp * pp), b, zero, recompute)
            need = sum(held_bytes(m, plan).values())
            found.append((m, {**cluster, "memory": int(need * dice.choice((0.97, 1.03)))}, plan))
    return found


def few_micro_batches(dice: Random) -> list[Call]:
    """Fewer than stages, so that the first stage keeps less; between the two there is the GPU's memory."""
    found = []
    for dp, b in ((8, 1), (4, 4), (16, 1)):
        m, cluster, plan = call({**GPT39, "batch": 2 * dp * b}, 16 * dp, 4, 4, dp, b, dice.randint(1, 3))
        full = held_bytes({**m, "batch": 4 * dp * b}, plan)
        half = held_bytes(m, plan)
        between = (sum(full.values()) + sum(half.values())) / 2
        found += [(m, {**cluster, "memory": int(between)}, plan), (m, {**cluster, "memory": int(between / 2)}, plan)]
    return found


def exactly(dice: Random) -> list[Call]:
    """All the memory that there is, and a byte less."""
    m, cluster, plan = call(SMALL, 64, 4, 2, 8, 1, dice.randint(0, 3))
    need = sum(held_bytes(m, plan).values())
    assert need == int(need)
    return [(m, {**cluster, "memory": int(need) - less}, plan) for less in (0, 1)]


def computed_again(dice: Random) -> list[Call]:
    """The inputs of all layers fit beside the rest, and the whole layer does not; or only just."""
    found = []
    for model, gpus, tp, pp in ((GPT3, 1536, 8, 12), (LONG, 16, 4, 1), (SMALL, 64, 2, 2)):
        m, cluster, plan = call(model, gpus, tp, pp, gpus // (tp * pp), 1, dice.choice((1, 2, 3)), True)
        need, layers = held_bytes(m, plan), min(pp, m["batch"] // plan["dp"]) * m["layers"] // pp
        whole = need["activations"] - layers * 2 * m["seq"] * m["hidden"]
        found += [(m, {**cluster, "memory": int(sum(need.values()) - part * whole)}, plan) for part in (0.9, 0.1, -0.1)]
    return found


def reasons(calls: list[Call]) -> list[str]:
    return [why_infeasible(*each) for each in calls]
