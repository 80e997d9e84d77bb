"""The clusters that can be planned for: so many GPUs of a kind, in domains that NVLink joins, on a network.

    "dgx-a100 x 128"            128 nodes of 8 GPUs            "gb200-nvl72 x 256 gpus"   256 GPUs, in domains of 72
    "dgx-h100 x 64 gpus"        8 nodes                        "mine.json"                your own

Those of 8 GPUs are ``machines.find``'s, with its sources. What it lacks stands here: the number formats of training in
8 and 4 bits, and machines with more than 8 GPUs on one NVLink. What a long transfer reaches of a link is *measured*,
and comes from ``allreduce_busbw_measured`` (stas00/ml-engineering, with the source in that file); the best rate of a
matrix product from ``accelerator_specs_and_mamf`` (the same, MAMF: maximum achievable matmul FLOP/s).

Sources of the rest:

- *Verda*: verda.com/blog/gb300-nvl72-architecture, dense rates: FP4 15 (GB300), 14 (B300), 9 (B200) PFLOP/s, FP8 5
  (GB300) and 4.5; BF16 2.5 (GB300) and 2.25; exponentials 10.7e12 a second (Ultra) against 5e12; 279, 270 and 180 GB.
- *GB200*: 2.5 PFLOP/s in BF16 (``accelerator_specs_and_mamf``), twice that in FP8 and four times in FP4; 186 GB and 8
  TB/s a GPU and 400 Gbit/s each, NVIDIA's data sheet, quoted from memory.
- *GB300, B300*: 8 TB/s and ConnectX-8 of 800 Gbit/s a GPU, glennklockwood.com/garden/processors/B300 and NVIDIA.
- Quoted from memory: streaming multiprocessors, 80 (V100), 108 (A100), 132 (H100), 148 (B200 and its kin), 304
  (MI300X). Exponentials elsewhere: 16 a cycle and multiprocessor (CUDA programming guide), so 2.0e12 (V100), 2.4e12
  (A100), 3.9e12 (H100).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lockstep import machines
from lockstep.errors import UsageError
from lockstep.planner.hashed_once import hashed_once
from lockstep.planner.models import guess
from lockstep.tables import published

PRECISIONS = ("bf16", "fp8", "mxfp8", "nvfp4")
MOST_GPUS = 200_000  # of one training run, with room: the largest that was published has 100,000


# Of a GPU's best product, what those of a training step reach. Calibrated: 0.885 on megatron_sc21_table1 and
# korthikanti (A100), 0.77 on LLaMA-3's rows of megatron_bridge_performance (H100 and later, which a power limit slows
# down sooner).
COOL, HOT = 0.885, 0.77
# The later part of the same silicon with a higher limit reaches more in proportion: B300 1.1 kW against B200's 1.0,
# GB300 1.4 against GB200's 1.2 (*Verda*).
B300_POWER, GB300_POWER = 1.1, 1.4 / 1.2


@hashed_once
@dataclass(frozen=True)
class Gpu:
    """One GPU. Rates in FLOP/s, dense; ``matmul``: the best share of the peak that a matrix product was seen to
    reach."""

    name: str
    bf16: float
    fp8: float  # 0: it has none
    fp4: float
    matmul: float
    memory: float  # bytes
    memory_bandwidth: float  # bytes/s
    multiprocessors: int
    exponentials: float  # a second, of the unit that softmax needs
    sustained: float = HOT  # share of ``matmul`` that products reach within a training step, warm and one after another
    runtime: float = 2.5e9  # bytes of CUDA's context, NCCL's buffers and libraries; estimate

    def peak(self, precision: str) -> float:
        """FLOP/s of matrix products in ``precision``; FP8 and MXFP8 run at one rate."""
        return {"bf16": self.bf16, "fp8": self.fp8, "mxfp8": self.fp8, "nvfp4": self.fp4}[precision]


@hashed_once
@dataclass(frozen=True)
class Cluster:
    """``gpus`` GPUs, ``domain`` of them joined by NVLink. Links in bytes/s of one GPU and direction, as sold, and the
    share of it that a long transfer reaches; latencies in seconds, of a message between two GPUs."""

    name: str
    gpu: Gpu
    gpus: int
    domain: int
    inside: float  # NVLink
    inside_share: float
    inside_latency: float
    between: float  # network card
    between_share: float
    between_latency: float
    switch_sums: bool = False  # the NVLink switch adds up (NVLS)
    host_memory: float = 0.0  # bytes for each GPU of a host on a fast link of its own (NVLink-C2C)

    @property
    def domains(self) -> int:
        return -(-self.gpus // self.domain)


def _best(gpu: str) -> float:
    """The share of the peak that a matrix product in bfloat16 was seen to reach."""
    (row,) = (r for r in published("planner", "accelerator_specs_and_mamf.csv") if r["gpu"] == gpu)
    return float(row["mamf_bf16_tflops"]) / float(row["bf16_or_fp16_dense_tflops"])


# FP8, FP4 [FLOP/s], measured share of the peak, multiprocessors, exponentials a second
_MORE: Mapping[str, tuple[float, float, float, int, float]] = MappingProxyType(
    {
        "dgx-v100": (0, 0, 0.80, 80, 2.0e12),  # no MAMF: 100 of 125 TFLOP/s, estimate
        "dgx-a100": (0, 0, _best("A100 SXM"), 108, 2.4e12),
        "dgx-h100": (1979e12, 0, _best("H100 SXM"), 132, 3.9e12),
        "h200": (1979e12, 0, _best("H200 SXM"), 132, 3.9e12),
        "dgx-b200": (4500e12, 9000e12, _best("B200 SXM"), 148, 5e12),
        "mi300x": (2615e12, 0, _best("MI300X"), 304, 10e12),
    }
)
# the measured bus bandwidth of long all-reduces by rings (NVLS off), over what the link is sold as
_REACHED: Mapping[str, float] = MappingProxyType(
    {
        "dgx-v100": 235 / 300,  # not measured: as on the A100
        "dgx-a100": 235 / 300,
        "dgx-h100": 365.6 / 450,
        "h200": 365.6 / 450,
        "dgx-b200": 682.2 / 900,
        "mi300x": 312.9 / 448,
    }
)
GIB = 2**30  # a GPU "of 80 GB" has 80 GiB: nvidia-smi has 81,920 MiB of an A100, 81,559 of an H100, 183,359 of a B200
GRACE = 240e9  # NVIDIA's data sheet of GB200: 480 GB of LPDDR5X for two GPUs, NVLink-C2C of 450 GB/s a direction
NETWORK_SHARE = 0.92  # 4 nodes: 380 of 8 x 50 GB/s (P6-B200), 92 of 100 GB/s: allreduce_busbw_measured


def _of_machines(name: str) -> Cluster:
    m, (fp8, fp4, matmul, sms, exponentials) = machines.find(name), _MORE[name]
    d = m.device
    gpu = Gpu(
        d.name,
        d.peak("float16"),
        fp8,
        fp4,
        matmul,
        d.memory / 1e9 * GIB,
        d.memory_bandwidth,
        sms,
        exponentials,
        COOL if name in ("dgx-v100", "dgx-a100") else HOT,
    )
    return Cluster(
        name, gpu, 8, 8, m.inside.links / m.inside.beta, _REACHED[name], m.inside.alpha,
        1 / m.between.beta, NETWORK_SHARE, m.between.alpha, switch_sums=name in ("dgx-h100", "h200", "dgx-b200"),
    )  # fmt: skip


def _catalogue() -> dict[str, Cluster]:
    found = {name: _of_machines(name) for name in _MORE}
    b200 = found["dgx-b200"]
    b300 = Gpu(
        "B300 SXM 270GB", 2250e12, 4500e12, 14e15, _best("B300 SXM"), 270 * GIB, 8e12, 148, 10.7e12, HOT * B300_POWER
    )
    gb200 = Gpu("GB200 186GB", 2500e12, 5000e12, 10e15, _best("GB200 SXM"), 186 * GIB, 8e12, 148, 5e12)
    gb300 = Gpu(
        "GB300 279GB", 2500e12, 5000e12, 15e15, _best("GB200 SXM"), 279 * GIB, 8e12, 148, 10.7e12, HOT * GB300_POWER
    )  # MAMF as GB200
    found["dgx-b300"] = replace(b200, name="dgx-b300", gpu=b300, between=100e9)
    found["gb200-nvl72"] = replace(b200, name="gb200-nvl72", gpu=gb200, gpus=72, domain=72, host_memory=GRACE)
    found["gb300-nvl72"] = replace(
        b200, name="gb300-nvl72", gpu=gb300, gpus=72, domain=72, between=100e9, host_memory=GRACE
    )
    return found


CLUSTERS: Mapping[str, Cluster] = MappingProxyType(_catalogue())


def find(text: str) -> Cluster:
    """The cluster that ``text`` names: "dgx-a100 x 128" (domains), "gb200-nvl72 x 256 gpus", or a JSON file.
    Raises UsageError."""
    if text.strip().endswith(".json"):
        return from_file(Path(text.strip()))
    match = re.fullmatch(r"\s*([\w.-]+?)(?:\s+[x×*]\s*(\S+?)(?:\s*(gpus?|nodes?|domains?))?)?\s*", text, re.IGNORECASE)
    if not match:
        raise UsageError(f"{text!r} names no cluster.", 'Write "dgx-a100 x 128" or "gb200-nvl72 x 256 gpus".')
    kind = match[1].lower().replace("_", "-")
    if kind not in CLUSTERS:
        raise UsageError(
            f"There is no cluster named {match[1]!r}.{guess(kind, CLUSTERS)}", f"Choose among {', '.join(CLUSTERS)}."
        )
    one = CLUSTERS[kind]
    number = _count(match[2] or "1")
    return sized(one, number if (match[3] or "").lower().startswith("gpu") else number * one.domain)


def _count(text: str) -> int:
    try:
        number = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(
            f"A cluster has a whole number of nodes or GPUs from 1 on, not {text!r}.", 'Write "dgx-a100 x 128".'
        )
    return number


def sized(cluster: Cluster, gpus: int) -> Cluster:
    """``cluster`` with so many GPUs. Domains are filled evenly: of 256 GPUs in domains of 72, each of 4 has 64.
    Raises UsageError for more GPUs than anybody has."""
    if gpus > MOST_GPUS:
        raise UsageError(f"{gpus:,} GPUs are more than one run has ever used.", f"Plan for at most {MOST_GPUS:,} GPUs.")
    if gpus <= cluster.domain:
        return replace(cluster, gpus=gpus, domain=gpus)
    domains = -(-gpus // cluster.domain)
    while gpus % domains:
        domains += 1
    if gpus // domains * 2 < min(cluster.domain, 8):
        raise UsageError(
            f"{gpus:,} GPUs do not fill nodes of {cluster.domain} evenly.", f"Take a multiple of {cluster.domain}."
        )
    return replace(cluster, gpus=gpus, domain=gpus // domains)


def from_file(path: Path) -> Cluster:
    """A cluster from a JSON file: ``{"like": "dgx-h100", "gpus": 64, "between": 25e9, "gpu": {"memory": 96e9}}``; what
    it leaves out is as in ``like``. Or what ``lockstep doctor --survey`` measured of a machine, each of whose cores
    counts as a GPU. Raises UsageError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UsageError(f"{path} cannot be read as JSON: {error}.", "Look at the file.") from None
    if isinstance(data, dict) and "survey" in data:
        return _surveyed(data["survey"], path)
    if not isinstance(data, dict) or data.get("like") not in CLUSTERS:
        raise UsageError(
            f"{path} says no cluster that it is like.",
            'Write {"like": "dgx-h100", "gpus": 64, …}, with one of ' + f"{', '.join(CLUSTERS)}.",
        )
    base = CLUSTERS[data.pop("like")]
    gpu = replace(base.gpu, **_numbers(data.pop("gpu", {}), Gpu, path))
    made = _numbers(data, Cluster, path)
    gpus = int(made.pop("gpus", base.gpus))
    return sized(replace(base, name=path.stem, gpu=gpu, **made), gpus)


CORES_EXPONENTIALS = 1e9  # a second, of a core with vector instructions; estimate


def _surveyed(survey: Any, path: Path) -> Cluster:
    """The machine that a survey measured: rates that were reached, so that nothing comes off them."""
    try:
        measured, cores = machines.Cluster.from_json(survey["cluster"]), int(survey["cores"])
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} holds no survey: {error!r}.", "Make one: lockstep doctor --survey --json.") from None
    d, link = measured.device, measured.inside
    rate = max(d.peak("bfloat16"), d.peak("float32"))
    core = Gpu(d.name, rate, 0, 0, 1.0, d.memory, d.memory_bandwidth, 1, CORES_EXPONENTIALS, sustained=1.0, runtime=0.0)
    wire = 1 / link.beta
    return Cluster(measured.name, core, cores, cores, wire, 1.0, link.alpha, wire, 1.0, link.alpha)


def _numbers(data: Any, kind: type, path: Path) -> dict[str, Any]:
    known = tuple(f.name for f in fields(kind) if f.type in ("int", "float"))
    whole = {f.name for f in fields(kind) if f.type == "int"}
    if not isinstance(data, dict):
        raise UsageError(f"{path}: {kind.__name__.lower()} is not an object.", 'Write {"memory": 96e9}.')
    for key, value in data.items():
        if key not in known:
            raise UsageError(f"{path}: there is no {key!r}.{guess(key, known)}", f"Known: {', '.join(known)}.")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e30:
            raise UsageError(f"{path}: {key} is a number above 0, not {value!r}.", f'Write, say, "{key}": 64.')
        if key in whole and value != int(value):
            raise UsageError(f"{path}: {key} is a whole number, not {value!r}.", f'Write, say, "{key}": 64.')
        if key.endswith("_share") and value > 1:
            raise UsageError(f"{path}: {key} is a share, at most 1, not {value!r}.", f'Write, say, "{key}": 0.9.')
    return {key: int(value) if key in whole else value for key, value in data.items()}
