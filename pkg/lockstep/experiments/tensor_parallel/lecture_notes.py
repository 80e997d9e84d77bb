"""The lecture notes' claims about tensor parallelism, in their words, with our count of each and the reason.

Papers: GPT-3 trained with "model parallelism within each matrix multiply" (arXiv:2005.14165, section 2.3), LLaMA "by
using model and sequence parallelism" as Korthikanti et al. have it (arXiv:2302.13971, section 2.4). Megatron-LM has
programs that train BERT and ViT (``pretrain_bert.py``, ``pretrain_vision_classify.py``). Its imports moved in 2024
(intelligent-machine-learning/dlrover#1128 mends them); ``extra_args_provider`` went with core 0.18
(EleutherAI/lm-evaluation-harness#3991).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

from lockstep.cost.tensor_parallel import parameters
from lockstep.experiments.tensor_parallel import notes_sample, your_line
from lockstep.experiments.tensor_parallel.table import differences
from lockstep.experiments.tensor_parallel.users import MODELS, told_bytes
from lockstep.models import Block, linear
from lockstep.tables import Table
from lockstep.tensor_parallel.across_nodes import GPT_3, RANKS, spent
from lockstep.tensor_parallel.attention import ParallelAttention
from lockstep.tensor_parallel.linear import ColumnParallelLinear, RowParallelLinear
from lockstep.tensor_parallel.recorded import alike, formula
from lockstep.tensor_parallel.transformer import ParallelMLP
from lockstep.worlds import run

h, T, HEADS, K = 32, 16, 4, 2
HEAD = ("a common claim", "we count", "why")
FILTERS = "filters, then channels"  # of ``table.CASES``


class Passes(NamedTuple):
    """All-reduces of a layer, forward and backward."""

    forward: int
    backward: int

    def __str__(self) -> str:
        return f"all-reduces: {self.forward} forward, {self.backward} backward"


def by_columns() -> nn.Module:
    return ColumnParallelLinear(linear(h, 4 * h, 0, 0))


def by_rows() -> nn.Module:
    return RowParallelLinear(linear(h * K, h, 0, 0))  # its input is h numbers on each rank


def an_mlp() -> nn.Module:
    return ParallelMLP(linear(h, 4 * h, 0, 0), linear(4 * h, h, 0, 1))


def attention() -> nn.Module:
    block = Block(h, HEADS, 0, 0)
    return ParallelAttention(block.qkv, block.out, HEADS)


def passed(layer: Callable[[], nn.Module], backward: bool) -> None:
    """On a rank."""
    out = layer()(torch.ones(1, T, h, requires_grad=True))
    if backward:
        out.sum().backward()


def all_reduces(layer: Callable[[], nn.Module]) -> Passes:
    traces = [run(passed, layer, backward, ranks=K, on="dgx-a100").trace for backward in (False, True)]
    there, both = (sum(e.kind == "all_reduce" for e in trace.of_rank(0)) for trace in traces)
    return Passes(there, both - there)


def slides_table() -> Table:
    """The lecture's slides on tensor parallelism, whole."""
    found, sums = {layer: all_reduces(layer) for layer in (by_columns, by_rows, an_mlp, attention)}, your_line.halves()
    notes, right = (your_line.far(sums[name], sums["X·A"]) for name in ("X1·A1 + X1·A2", "X1·A1 + X2·A2"))
    columns, rows, gelu = found[by_columns], found[by_rows], your_line.gelu_table().rows
    together, inside = found[an_mlp].forward + found[attention].forward, spent(RANKS)
    table = [
        ("All workers share the same data, but have different model parts",
         f"each of {RANKS} ranks has {parameters(GPT_3.h, RANKS) / parameters(GPT_3.h, 1):.1%} of a layer’s parameters",
         "Right: matrices are cut, norms and the biases of rows are not."),
        ("Less bubble", f"{inside.waiting / inside.seconds:.0%} of a step standing still",
         "There is none: all ranks compute at once. What they wait for is all-reduces."),
        ("Splitting by row … Y = σ(X1A1 + X1A2)", f"{notes} off; X1·A1 + X2·A2: {right}",
         "The second half of X meets the second half of A."),
        ("The output requires all-reduce before activation", f"{rows}; GeLU before the sum: {gelu[1][1]} off",
         "Right. And a bias is added once, after it."),
        ("Splitting by column … Y = [σ(XA1) σ(XA2)]", f"GeLU of the parts: {gelu[0][1]}", "Right."),
        ("The output does not require all-reduce", str(columns),
         "Right, forward. Backward the gradient of X is a sum: f."),
        ("But Y are sharded, forcing row-splitting in the next layer", str(found[an_mlp]),
         "Right, and that is what makes it cheap: one all-reduce for two layers."),
        ("f : identity in forward-pass, all-reduce in backward pass; g : all-reduce in forward pass, identity in "
         "backward pass",
         f"f {columns.forward} and {columns.backward}, g {rows.forward} and {rows.backward}", "Right."),
        ("For attentions, similarly split Q/K/V heads by columns; Output linear layer is split by rows",
         f"{found[attention]}; a block: {together} forward", "Right. With grouped queries, a head of keys may be "
         "on several ranks."),
    ]  # fmt: skip
    return Table("A lecture’s slides on tensor parallelism", HEAD, [list(row) for row in table])


def corrections_table() -> Table:
    """What else they say of it, sentence by sentence."""
    late, early = notes_sample.sample()
    alone, inside = spent(RANKS, 1), spent(RANKS)
    gradients = 2 * parameters(GPT_3.h, 1)  # bytes
    states = ", ".join(f"{m.name} {told_bytes(m.states)}" for m in MODELS if m.name != "ViT-L/16")
    conv = max(max(found.values()) for found in run(differences, [FILTERS], ranks=3, on="dgx-a100").values)
    wheel = [notes_sample.where(name) or "in no module of its wheel" for name in ("GPTModel", "initialize_megatron")]
    table = [
        ("Splits individual tensors (weights, activations, gradients) across multiple GPUs.",
         f"{alike():.0f} of {formula('tensor', 8):,.0f} MB of a layer’s activations are alike on all 8 ranks",
         "Right of weights and gradients. What stands between g and f is whole everywhere, without sequence "
         "parallelism."),
        ("Common in Transformer models (GPT-3, LLaMA, ViTs), where matrix multiplications are expensive.",
         f"their attention: {all_reduces(attention)}",
         "Right, by the papers of the first two; and Megatron-LM has a program for ViTs."),
        ("large models like GPT, BERT, or ResNets exceed a single device's memory capacity", f"model states: {states}",
         "Right of GPT-3. The other two fit into one GPU of 80 GB."),
        ("Convolutional Layer: Distribute the filters across devices", f"apart from one rank by {conv:.0e}",
         "Right. The next convolution is cut by its input channels."),
        ("High communication costs, as synchronization is required between devices after each layer is processed.",
         f"{linear_layers()} linear layers in a block, 2 all-reduces forward",
         "After each second layer: columns, then rows."),
        ("Model parallel: Throughput Decreases", f"{alone.seconds / inside.seconds:.2f} times one GPU, on {RANKS}",
         "With this kind it increases. Naive stages gain nothing: unit 09."),
        ("Model parallel: Communication High", f"{inside.nbytes / 1e6:,.0f} MB all-reduced for a layer and "
         f"2,048 tokens; its gradients are {gradients / 1e6:,.0f} MB", "In number it is high: in each layer all wait "
         "four times. In bytes it depends on the batch: data parallelism sends more here."),
        ("from megatron import initialize_megatron, get_args; from megatron.model import GPTModel",
         f"Megatron Core 0.16.1: GPTModel is in {wheel[0]}; initialize_megatron {wheel[1]}",
         "Names moved in 2024. initialize_megatron is in megatron.training now, in the repository only."),
        ("initialize_megatron(extra_args_provider=None); args.tensor_model_parallel_size = 2",
         f"each of 2 ranks holds {late:.0%} of the model; told first: {early:.0%}",
         "Groups are made by the first line. What is told later, nobody reads."),
    ]  # fmt: skip
    return Table("What else is said of tensor parallelism", HEAD, [list(row) for row in table])


def linear_layers() -> int:
    """Of a block."""
    return sum(isinstance(layer, nn.Linear) for layer in Block(h, HEADS, 0, 0).modules())
