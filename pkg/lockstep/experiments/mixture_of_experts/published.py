"""Table 1 of Switch Transformers and the paper's speed-up, read with care.

Table 1: 128 experts, 32 TPUv3 cores, and the hours until a quality is reached that T5-Base does not reach in 100,000
steps. It compares mixtures with each other (Switch: top-1; MoE: top-2) and with T5-Large, which has 3.4 times the FLOPs
per example (425 to 124 billion, table 9).

    examples/s   a mixture with T5-Base's FLOPs is slower than T5-Base: gate, two all-to-alls, capacity
    hours        yet it reaches the quality earlier than a larger dense model, since it needs fewer steps

The speed-up that the paper emphasises and the notes show (figure 5) is another one: 64 experts, "the same quality in
one-seventh the time of the T5-Base", where T5-Base trains for 450,000 steps.

Source: Fedus et al., arXiv:2101.03961, tables 1 and 9, figures 4 and 5.
"""

from __future__ import annotations

from typing import NamedTuple

from lockstep.tables import Table, published

FLOPS_PER_EXAMPLE = {"T5-Base": 124e9, "T5-Large": 425e9}  # table 9; the mixtures have those of T5-Base
STEPS_OF_T5_BASE, STEPS_OF_SWITCH = 450_000, 60_000  # figure 4, to the same quality, 64 experts


class Row(NamedTuple):
    model: str
    capacity_factor: float | None
    quality: float  # negative log perplexity after 100,000 steps
    hours: float | None  # to -1.50
    examples: float  # a second


def rows() -> list[Row]:
    """The paper's Table 1."""
    return [
        Row(
            row["model"],
            float(row["capacity_factor"]) if row["capacity_factor"] else None,
            float(row["neg_log_ppl_100k"]),
            None if row["hours_to_threshold"] == "not achieved" else float(row["hours_to_threshold"]),
            float(row["examples_per_s"]),
        )
        for row in published("experiments/mixture_of_experts", "switch_transformer_table1.csv")
    ]


def row(model: str, capacity_factor: float | None = None) -> Row:
    return next(r for r in rows() if (r.model, r.capacity_factor) == (model, capacity_factor))


def switch_table() -> Table:
    """Table 1, with each row's speed relative to T5-Base, and its time relative to T5-Large."""
    base, large = row("T5-Base"), row("T5-Large")
    assert large.hours is not None
    lines = []
    for r in rows():
        sooner = f"{large.hours / r.hours:.2f}" if r.hours else ""
        lines.append(
            [r.model, f"{r.capacity_factor:g}" if r.capacity_factor else "", f"{r.quality:.3f}", f"{r.examples:.0f}",
             f"{r.examples / base.examples:.2f}", f"{r.hours:.1f}" if r.hours else "not reached", sooner]
        )  # fmt: skip
    head = ["model", "capacity", "quality", "examples/s", "by T5-Base's", "hours", "T5-Large's hours by them"]
    return Table("Switch Transformers, Table 1", head, lines)


def steps_speedup() -> float:
    """Figure 4: the ratio of the steps needed. Each step takes longer, so the ratio of the hours is smaller."""
    return STEPS_OF_T5_BASE / STEPS_OF_SWITCH
