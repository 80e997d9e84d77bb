"""What a published row leaves out, and what follows from the rest of it.

    gpus = tp·cp·pp·dp        batch = dp·micro_batch·micro_batches        tokens = batch·seq

A rule with one unknown gives it, and what it gives may be what another rule needs. ep is in none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from lockstep.tables import published

RULES = {"gpus": ("tp", "cp", "pp", "dp"), "batch": ("dp", "micro_batch", "micro_batches"), "tokens": ("batch", "seq")}
KEYS = ("gpus", "tp", "cp", "pp", "dp", "ep", "micro_batch", "micro_batches", "batch", "seq", "tokens")
ASKED = "?"
Row = dict[str, int | str | None]
MILLION = 2**20  # 16M tokens of Llama 3's table are 128 x 16 sequences of 8,192


def missing_axis(row: Mapping[str, int | str | None]) -> int | None:
    """What belongs in place of "?"; None if it does not follow. What is None in ``row`` is not known."""
    known = {key: value for key, value in row.items() if isinstance(value, int)}
    while found := next(follows(known), None):
        known.update([found])
    return known.get(next(key for key, value in row.items() if value == ASKED))


def follows(known: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """What one rule gives."""
    for whole, parts in RULES.items():
        unknown = [key for key in (whole, *parts) if key not in known]
        if len(unknown) == 1:
            product = prod(known[key] for key in parts if key in known)
            yield unknown[0], product if unknown == [whole] else known[whole] // product


def published_rows() -> dict[str, list[dict[str, int | None]]]:
    """By table, what its rows say. An axis that the software did not have is 1."""
    found: dict[str, list[dict[str, int | None]]] = {"Megatron-LM, 2021": [], "Llama 3": [], "Megatron-Bridge": []}
    for r in published("planner", "megatron_sc21_table1.csv"):
        found["Megatron-LM, 2021"].append(row(
            gpus=r["gpus"], tp=r["TP"], cp=1, pp=r["PP"], dp=r["DP_derived"], ep=1, micro_batch=r["micro_batch"],
            micro_batches=r["microbatches_per_pipeline_derived"], batch=r["global_batch"], seq=2048,
        ))  # fmt: skip
    for r in published("planner", "llama3_405b_table4.csv"):
        found["Llama 3"].append(row(
            gpus=r["gpus"], tp=r["TP"], cp=r["CP"], pp=r["PP"], dp=r["DP"], ep=1, seq=r["seq_len"],
            batch=int(r["DP"]) * int(r["batch_per_DP"]), tokens=int(r["tokens_per_batch"].rstrip("M")) * MILLION,
        ))  # fmt: skip
    for r in published("planner", "megatron_bridge_performance.csv"):
        found["Megatron-Bridge"].append(row(
            gpus=r["gpus"], tp=r["TP"], cp=r["CP"], pp=r["PP"], ep=r["EP"], micro_batch=r["micro_batch"],
            batch=r["global_batch"],
            seq=r["seq_len"],
        ))  # fmt: skip
    return found


def row(**printed: int | str) -> dict[str, int | None]:
    """All KEYS; None where nothing is printed."""
    return {key: int(printed[key]) if printed.get(key) not in (None, "") else None for key in KEYS}
