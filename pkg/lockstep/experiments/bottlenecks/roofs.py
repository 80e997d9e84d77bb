"""Steps under three roofs: training, prefill and decode on a GPU, and inference as a service."""

from __future__ import annotations

from collections.abc import Callable

from lockstep.cost.inference import (
    LLAMA_3_8B,
    LLAMA_3_70B,
    LLAMA_65B,
    Decoder,
    cache_bytes,
    decode,
    most_sequences,
    prefill,
)
from lockstep.cost.roofs import Roofs, Work
from lockstep.machines import find
from lockstep.show.chart import Chart
from lockstep.show.curves import curves
from lockstep.show.three_roofs import ThreeRoofs, three_roofs
from lockstep.tables import Table

Bound = Callable[[float, float, float], str]  # (compute, memory, network seconds) -> the roof
KvBytes = Callable[[int, int, int, int], float]  # (layers, heads, size, tokens) -> bytes
CONTEXT = 2048
MEMORY = 80e9  # bytes of a GPU, for weights and caches


def a100() -> Roofs:
    """An A100 by its data sheet, with a network of 25 GB/s."""
    device = find("dgx-a100").device
    return Roofs(device.peak("bfloat16"), device.memory_bandwidth, 25e9)


def steps() -> list[Work]:
    """Four steps on one GPU: training of Llama 3 8B in 16 bits with a ring all-reduce among many GPUs (each gradient is
    sent twice; weights are read twice and gradients written; an activation is 34 bytes for each of d = 4,096 in each of
    32 layers, Korthikanti et al., arXiv:2205.05198, without attention's scores), a GELU, and a decoded token."""
    n = LLAMA_3_8B.parameters
    gelu = 2**28
    return [
        Work("training on 32,768 tokens", 6 * n * 32_768, 3 * 2 * n + 34 * 32 * 4096 * 32_768, 4 * n),
        Work("training on 2,048 tokens", 6 * n * 2048, 3 * 2 * n + 34 * 32 * 4096 * 2048, 4 * n),
        Work("GELU of 268 million numbers", 8 * gelu, 4 * gelu),
        decode(LLAMA_3_8B, CONTEXT),
    ]


def steps_table(line: Bound) -> Table:
    """The steps, and the roof that bounds each by the learner's line."""
    rows = []
    for work in steps():
        seconds = work.seconds(a100())
        rows.append([work.name, *(milliseconds(s) for s in seconds.values()), str(line(*seconds.values()))])
    head = ["step", "compute, ms", "memory, ms", "network, ms", "bound, by your line"]
    return Table("Under the roofs of an A100", head, rows)


def milliseconds(seconds: float) -> str:
    """Three figures, and from 1,000 on a whole number."""
    ms = 1e3 * seconds
    return f"{ms:,.0f}" if ms >= 999.5 else f"{ms:.3g}"


def figure_of_inference(at: int = 1) -> ThreeRoofs:
    """Prefill of one prompt, and decode for more and more sequences at once, of Llama 3 8B. The last stop has as
    many as fit into memory beside the weights."""
    batches = (1, 8, 32, 128, most_sequences(LLAMA_3_8B, MEMORY, CONTEXT))
    stops = {str(batch): [prefill(LLAMA_3_8B, CONTEXT), decode(LLAMA_3_8B, CONTEXT, batch)] for batch in batches}
    return three_roofs(stops, a100(), "sequences at once", str(at))


def decode_seconds(batch: int, model: Decoder = LLAMA_3_8B) -> float:
    """Seconds of a token for each of ``batch`` sequences, at least."""
    return decode(model, CONTEXT, batch).at_least(a100())


def service_chart() -> Chart:
    """Tokens a second of all sequences together, against how long one of them waits for a token."""
    found = {}
    for context in (512, 2048, 8192):
        most = most_sequences(LLAMA_3_8B, MEMORY, context)
        batches = [*(b for b in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512) if b < most), most]
        points = {}
        for batch in batches:
            seconds = decode(LLAMA_3_8B, context, batch).at_least(a100())
            points[1e3 * seconds] = batch / seconds
        found[f"{context:,} tokens, up to {batches[-1]}"] = points
    head = "Llama 3 8B on one A100 of 80 GB: 1, 2, 4 … sequences at once, as many as fit"
    return curves(found, "ms for a token", "tokens/s of all", head, log="xy")


def cache_table(line: KvBytes) -> Table:
    """The KV cache of 8,192 tokens by the learner's line, and how many such sequences fit into 80 GB."""
    rows = []
    for model in (LLAMA_3_8B, LLAMA_65B, LLAMA_3_70B):
        own = line(model.layers, model.kv_heads, model.head_size, 8192)
        fits = most_sequences(model, 2 * MEMORY if model.weights > MEMORY else MEMORY, 8192)
        gpus = "2" if model.weights > MEMORY else "1"
        told = [f"{model.heads}, {model.kv_heads}", f"{own / 1e9:.2f}", f"{cache_bytes(model, 8192) / 1e9:.2f}"]
        rows.append([model.name, *told, f"{model.weights / 1e9:.0f}", gpus, f"{fits}"])
    head = ["model", "heads, KV heads", "GB by your line", "GB", "weights, GB", "GPUs of 80 GB", "sequences that fit"]
    return Table("KV cache of a sequence of 8,192 tokens, in 16 bits", head, rows)
