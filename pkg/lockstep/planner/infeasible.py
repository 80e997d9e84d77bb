"""The first reason why a plan cannot run: a rule of ``plans``, or the kind of bytes, as in ``memory``, that a GPU has
most of. Of a GPT with dropout whose scores are kept, without sequence parallelism; logits and buffers are left out.

    divisibility    gpus = tp·pp·dp, tp divides the heads, pp the layers
    batch           dp·micro_batch divides the batch
    link            tp divides the GPUs of a node
    memory          2 + 4 + 12 bytes a parameter; activations by Korthikanti et al., arXiv:2205.05198, equation 2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BYTES = {"weights": (2, 3), "gradients": (4, 2), "optimizer": (12, 1)}  # of a parameter; shared out from that zero on
REASONS = ("divisibility", "batch", "link", *BYTES, "activations", "runs")


def why_infeasible(model: Mapping[str, int], cluster: Mapping[str, int], plan: Mapping[str, Any]) -> str:
    """One of REASONS. ``model``: layers, hidden, heads, seq, parameters, batch; ``cluster``: gpus, node, memory;
    ``plan``: tp, pp, dp, micro_batch, zero, recompute."""
    tp, pp, dp = plan["tp"], plan["pp"], plan["dp"]
    if tp * pp * dp != cluster["gpus"] or model["heads"] % tp or model["layers"] % pp:
        return "divisibility"
    if model["batch"] % (dp * plan["micro_batch"]):
        return "batch"
    if cluster["node"] % tp:
        return "link"
    held = held_bytes(model, plan)
    return max(held, key=lambda kind: held[kind]) if sum(held.values()) > cluster["memory"] else "runs"


def held_bytes(model: Mapping[str, int], plan: Mapping[str, Any]) -> dict[str, float]:
    """Bytes of a GPU of the first stage, by kind."""
    tp, pp, dp = plan["tp"], plan["pp"], plan["dp"]
    of_rank = model["parameters"] / (tp * pp)
    held = {kind: each * of_rank / (dp if plan["zero"] >= stage else 1) for kind, (each, stage) in BYTES.items()}
    tokens, h = model["seq"] * plan["micro_batch"], model["hidden"]
    layer = tokens * h * (10 + 24 / tp + 5 * model["heads"] * model["seq"] / (h * tp))
    in_flight = min(pp, model["batch"] // (dp * plan["micro_batch"])) * model["layers"] // pp
    held["activations"] = in_flight * 2 * tokens * h + layer if plan["recompute"] else in_flight * layer
    return held
