"""The lecture notes' statements on mixtures of experts, quoted, with our measurements and the reasons.

Sources, in addition to those of ``models_table``: GPT-4's architecture is not disclosed, "GPT-4 technical report",
arXiv:2303.08774, section 2; PaLM's "pipeline-free training", arXiv:2204.02311, section 4.
"""

from __future__ import annotations

import torch

from lockstep.experiments.mixture_of_experts.gpt_on_ranks import CONTEXT, PIECES
from lockstep.experiments.mixture_of_experts.published import row, steps_speedup
from lockstep.experiments.mixture_of_experts.your_line import rows_of_experts
from lockstep.experts.flops import NOTES, OPT, OPT_CONTEXT, OPT_VOCABULARY, dense_flops
from lockstep.experts.models_table import MODELS, find, short
from lockstep.experts.serial import NotesMixture
from lockstep.tables import Table

TOKENS, BF16 = 10, 2


def corrections_table() -> Table:
    """The notes' statements, one by one, with corrections."""
    rows = [*_samples(), *_sizes(), *_history()]
    return Table("Common claims about mixtures of experts", ["a common claim", "we count", "why"], rows)


def _samples() -> list[tuple[str, str, str]]:
    computed, ranks = rows_of_experts(NotesMixture(16), torch.ones(TOKENS, 16)), 4
    palm, llama = find("PaLM-540B"), find("LLaMA-65B")
    return [
        ("“Expert Parallelism”, the sample with sum(gate_scores[:, i] …)",
         f"{computed} rows of experts for {TOKENS} tokens",
         "It is the mixture of 1991, on one device: all experts compute all tokens."),
        ("“All workers share the same data, but have different model parts … Expert”",
         f"on {ranks} ranks, {PIECES * CONTEXT // ranks} of {PIECES * CONTEXT} tokens each",
         "Right of experts that are all fed the same batch. Since 2017, each rank brings tokens of its own."),
        ("“For massive models like GPT-4, LLaMA-65B, PaLM-540B, we combine … Mixture of Experts (MoE)”",
         f"LLaMA-65B: {short(llama.active)} of {short(llama.total)} active; PaLM-540B: {short(palm.active)} of "
         f"{short(palm.total)}",
         "The last two are dense, and PaLM trained without pipelines. Unit 12 combines them."),
        ("“Used in GPT-4, GLaM, Switch Transformer, and DeepSpeed MoE”",
         f"{_in_our_table()} of the four are in the table above",
         "GPT-4’s technical report tells nothing of its architecture."),
    ]  # fmt: skip


def _in_our_table() -> int:
    told = ("GPT-4", "GLaM", "Switch", "DeepSpeed-MoE")
    return sum(any(m.name.startswith(name) for m in MODELS) for name in told)


def _sizes() -> list[tuple[str, str, str]]:
    maverick, big = find("LLaMA-4 Maverick"), dense_flops(*OPT["175B"], OPT_CONTEXT, OPT_VOCABULARY)
    without = maverick.active - maverick.with_experts * maverick.expert
    shares = " / ".join(f"{share:.1f}" for share in big.shares)
    return [
        ("OPT-175B’s FLOPs: " + " / ".join(f"{share:g}" for share in NOTES["175B"]) + " %", f"{shares} %",
         "FFN to projections is 2 : 1 where the FFN is 4 times as wide as the model. Their logits agree at 175B."),
        ("“Only a few experts are active per forward pass → Huge memory savings!”",
         f"Maverick in bf16: {BF16 * maverick.total / 1e9:.0f} GB, of which a token meets "
         f"{BF16 * maverick.active / 1e9:.0f}",
         "Compute is saved. Another token meets other experts, so all have to be in memory."),
        ("“Uses 14B active parameters” (LLaMA-4)", f"{short(maverick.active)}; {short(without)} without one expert",
         "Each token meets two experts where there are any: a routed one, and the shared one. That the claim omits "
         "one is our guess."),
        ("“128 routed experts, 1 shared expert”", f"in {maverick.with_experts} of {maverick.layers} layers",
         "Right of Maverick. Scout has 16."),
    ]  # fmt: skip


def _history() -> list[tuple[str, str, str]]:
    first, base = find("Jacobs et al., 8 experts"), row("T5-Base")
    switch, large = row("Switch-Base", 1.0), row("T5-Large")
    assert switch.hours is not None
    assert large.hours is not None
    return [
        ("“Existed from LSTM era, back in 2017”", f"{first.year}: {first.experts} experts, each computes everything",
         "Right of sparse ones: 2017 brought the top k."),
        ("“the same quality in one-seventh the time of the T5-Base”",
         f"{steps_speedup():g} times fewer steps; {switch.examples / base.examples:.3g} of its examples/s; "
         f"{large.hours / switch.hours:.2f} times as soon as T5-Large",
         "Right for T5-Base’s quality, with 64 experts. A larger dense model is the stronger rival."),
    ]  # fmt: skip
