"""The lecture notes' statements on hybrid parallelism, quoted, with our counts and the reasons.

Sources, opened: GPT-4, arXiv:2303.08774, section 2 ("no further details about the architecture (including model size),
hardware, training compute, dataset construction, training method, or similar"); PaLM, arXiv:2204.02311, section 4
("pipeline-free training", 12-way model parallelism and 256-way fully sharded data parallelism in each of two pods);
LLaMA, arXiv:2302.13971, section 2.4 ("model and sequence parallelism, as described by Korthikanti et al.");
FourCastNet, arXiv:2208.05419, abstract. Its section on model parallelism could not be opened; a model-parallel AFNO in
NVIDIA Modulus Sym splits channels (release notes of 22.09).
"""

from __future__ import annotations

from lockstep.experiments.hybrid import by_hand, placed
from lockstep.tables import Table

HOUR_GPUS, MINUTES = 3072, 67.4  # arXiv:2208.05419, abstract
SLIDE_NODES, SLIDE_HOURS, SLIDE_DAYS = 32, 40, 45
GPUS_A_NODE = 4  # of Perlmutter and JUWELS Booster; the slide does not say
PALM_PODS, PALM_MODEL, PALM_SHARDED = 2, 12, 256


def days_of_one_gpu() -> float:
    """What one GPU would take if 3,072 of them had lost nothing."""
    return HOUR_GPUS * MINUTES / 60 / 24


def corrections_table() -> Table:
    """The notes' statements, one by one, with corrections."""
    head = ["a common claim", "we count", "why"]
    return Table("Common claims about hybrid parallelism", head, [*_models(), *_links(), *_weather()])


def _models() -> list[tuple[str, str, str]]:
    chips = PALM_PODS * PALM_MODEL * PALM_SHARDED
    return [
        ("“For massive models like GPT-4, … we combine” data, tensor, pipeline parallelism and experts",
         "GPT-4: nothing is published",
         "Its technical report says that it contains no details of architecture, hardware or training."),
        ("… “PaLM-540B”",
         f"{PALM_PODS} x {PALM_MODEL} x {PALM_SHARDED} = {chips:,} chips; no pipeline, no experts",
         "Two of the four: tensor parallelism, and data parallelism, sharded within a pod. The paper calls it "
         "pipeline-free training."),
        ("… “LLaMA-65B”", "tensor and sequence parallelism are named; pipeline and experts are not",
         "The model is dense. Its paper gives no sizes of groups, so we give none."),
        ("“we combine multiple parallelization techniques”: four are listed",
         f"GPT-3 on {by_hand.GPUS} GPUs: tp {by_hand.TP}, pp {by_hand.PP}, dp 1, no experts",
         "Hybrid is not all four at once. An axis is worth its messages where memory, batch or a link asks for it."),
    ]  # fmt: skip


def _links() -> list[tuple[str, str, str]]:
    few, many = placed.JOBS[0], placed.JOBS[-1]
    (a, b), (c, d) = ([placed.find_recorded(job, axis).seconds * 1e3 for axis in ("dp", "pp")] for job in (few, many))
    return [
        ("“Data parallelism is applied across machines, while pipeline parallelism is used within each machine”",
         f"{few.name}: {a:.1f} ms, pipeline across {b:.1f}; {many.name}: {c:.1f} ms, pipeline across {d:.1f}",
         "Nearly right where tokens outweigh weights. Of three axes the pipeline sends least in both."),
        ("“Hybrid Parallelism: Use when working with extremely large models or datasets”",
         f"{by_hand.by_hand().states / 1e9:.0f} GB of states a GPU on {by_hand.GPUS} GPUs, "
         f"{by_hand.by_hand().states * by_hand.GPUS / 1e9:,.0f} on one",
         "Right of models. A large dataset alone needs data parallelism, and time."),
    ]  # fmt: skip


def _weather() -> list[tuple[str, str, str]]:
    least = days_of_one_gpu()
    slides = SLIDE_NODES * GPUS_A_NODE * SLIDE_HOURS / 24
    counted = f"{HOUR_GPUS:,} GPUs · {MINUTES} minutes = {least:.0f} GPU days"
    return [
        ("FourCastNet: “40 hrs on 32 nodes or >~45days on a single GPU”",
         f"{counted}; 32 nodes of {GPUS_A_NODE} · 40 hours = {slides:.0f}",
         f"“> {SLIDE_DAYS} days” is a lower bound, no measurement. If {HOUR_GPUS:,} GPUs lost nothing, one would take "
         f"{least:.0f} days; {SLIDE_DAYS} would mean that they reach {SLIDE_DAYS / least:.0%} of that. "
         f"{GPUS_A_NODE} GPUs a node are our assumption."),
        ("“Scaled to e.g. 3808 GPUs on Perlmutter with model parallel on 4-gpus”", "3,808 GPUs: published",
         "How the model was split, and on which machine: unverified. The abstract names three machines together."),
    ]  # fmt: skip
