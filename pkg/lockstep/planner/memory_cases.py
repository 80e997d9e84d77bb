"""Published bytes beside the planner's: ZeRO's Table 1, Korthikanti's formulas, torchtitan's peaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lockstep.planner import cases, memory, stacks
from lockstep.planner.models import Model
from lockstep.planner.search import search
from lockstep.tables import published


@dataclass(frozen=True)
class MemoryCase:
    """Bytes as published and as the planner counts them."""

    table: str
    row: str
    published: float
    predicted: float

    @property
    def error(self) -> float:
        return self.predicted / self.published - 1


def everything() -> Iterator[MemoryCase]:
    yield from zero_table1()
    yield from zero_table2()
    yield from korthikanti()
    yield from torchtitan()


def zero_table1() -> Iterator[MemoryCase]:
    """Model states of so many parameters by ZeRO's stages: no activations, 2 + 2 + 12 bytes."""
    stack = replace(stacks.STACKS["megatron-2021"], gradient_bytes=2)
    for r in published("experiments/fsdp", "zero_table1_memory.csv"):
        size = {"7.5B": 7.5e9, "128B": 128e9, "1T": 1e12}[r["model"]]
        for stage, column in ((1, "Pos_GB"), (2, "Pos_g_GB"), (3, "Pos_g_p_GB")):
            states = memory.model_states(size, 0.0, int(r["Nd"]), 1, stage, stack)
            yield MemoryCase("zero_table1", f"{r['model']} dp={r['Nd']} zero={stage}", float(r[column]) * 1e9,
                             sum(states.values()))  # fmt: skip


def zero_table2() -> Iterator[MemoryCase]:
    """The largest models by theory on V100s of 32 GB, with 64 copies: their model states should fill them."""
    stack = replace(stacks.STACKS["megatron-2021"], gradient_bytes=2)
    columns = ("theory_baseline_B", "theory_Pos_B", "theory_Pos_g_B", "theory_Pos_g_p_B")
    for r in published("planner", "zero_table2_max_model.csv"):
        for stage, column in enumerate(columns):
            each = float(r[column]) * 1e9 / int(r["MP"])
            states = memory.model_states(each, 0.0, 64, 1, stage, stack)
            yield MemoryCase("zero_table2", f"tp={r['MP']} zero={stage}", 32e9, sum(states.values()))


def korthikanti() -> Iterator[MemoryCase]:
    """A layer's activations of the 22B and 175B models by equations 1 to 6, micro-batch 1."""
    for hidden, heads in ((6144, 64), (12288, 96)):
        model = Model("GPT", 48, hidden, heads, learned_positions=2048, tied=1)
        for tp, split, recompute, formula in (
            (1, 1, "none", 34 + 5 * heads * 2048 / hidden),
            (8, 1, "none", 10 + 24 / 8 + 5 * heads * 2048 / (hidden * 8)),
            (8, 8, "none", 34 / 8 + 5 * heads * 2048 / (hidden * 8)),
            (8, 1, "selective", 10 + 24 / 8),
            (8, 8, "selective", 34 / 8),
            (8, 1, "full", 2),
        ):
            each = memory.layer_bytes(model, tp, split, recompute, False, False, 2048, False, False)
            row = f"h={hidden} tp={tp} {recompute}" + (", sequence parallel" if split > 1 else "")
            yield MemoryCase("korthikanti_formulas", row, formula * hidden, each)


def torchtitan() -> Iterator[MemoryCase]:
    """Peaks of whole steps on H100s."""
    sizes = {
        (r["table"], r["model"], r["parallelism"], r["seq_len"], r["technique"]): r["memory_GiB"]
        for r in published("planner", "torchtitan_llama31.csv")
    }
    for case in cases.TABLES["torchtitan_llama31"]():
        known = next(
            (size for key, size in sizes.items() if case.row == f"{key[0]} {key[1]} {key[2]} {key[3]} {key[4]}"), ""
        )
        if known:
            found = search(case.job, case.stack, case.fixed, top=1).best[0]
            yield MemoryCase("torchtitan_llama31", case.row, float(known) * 2**30, found.memory)
