"""Machines as numbers: a Device computes, a Link carries messages, a Cluster joins many devices by two kinds of links.

Everything here is a published peak, unless it says *estimate*. A real run reaches 70 to 90 % of it, and the difference
is a lesson of its own (``cost.library`` has what NCCL and RCCL reach of a link). Sources, quoted below by these names:

- *ml-engineering*: the tables of github.com/stas00/ml-engineering (accelerator and network), which agree with the
  vendors' data sheets: dense rates, without structured sparsity, and NVLink bytes in one direction.
- *NCCL tuning.cc*: NVIDIA/nccl, ``src/graph/tuning.cc``, ``hwLat``, ring algorithm with the Simple protocol (the one
  that reaches full bandwidth): 3.4 µs a step over NVLink, 14 µs a step over a network. These are our alphas on GPUs.
- *estimate, 4 µs*: the launch of a kernel, one after another, whatever it computes. NVIDIA's blog "Getting Started with
  CUDA Graphs" (2019) has 3.8 µs, quoted from memory; 4 to 6 µs were measured for the "pegainfer" blog (part 3, 2026);
  profiles of training show 5 to 20 µs of the CPU's time (Holistic Trace Analysis, "CUDA Kernel Launch Statistics").
- *Cornell*: Cornell Virtual Workshop, "GPU Example: Tesla V100": 2,560 float64 and 5,120 float32 cores, a fused
  multiply-add each, at 1.53 GHz: 7.8 and 15.7 TFLOP/s. 640 tensor cores x 64 multiply-adds likewise: 125 TFLOP/s.
- *HGX B200*: NVIDIA's table "Individual Blackwell GPU Specifications": 37 (float64) and 75 (float32) TFLOP/s, 180 GB.
- *Feng 2003*: Feng et al., "Optimizing 10-Gigabit Ethernet for Networks of Workstations, Clusters, and Grids", SC 2003:
  TCP takes 19 µs from end to end over a cable and 25 µs through a switch. Most of it is software, so it is our alpha
  for 25-Gigabit Ethernet too.
- *gloo loopback*: ping-pong between two gloo ranks on one machine (this course, unit 04): 65 µs and 1.5 GB/s on a
  two-core server. ``lockstep.launch.survey`` measures yours.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from lockstep.errors import UsageError


@dataclass(frozen=True)
class Device:
    """What one rank computes with: a GPU, a whole server, or one core."""

    name: str
    flops: Mapping[str, float] = field(hash=False)  # dtype name, as "bfloat16" -> FLOP/s of a matrix product
    memory_bandwidth: float  # bytes/s
    memory: int  # bytes
    launch_overhead: float  # seconds that an operation takes even when it has nothing to do
    source: str = ""

    def peak(self, dtype: str) -> float:
        """FLOP/s for ``dtype``. A dtype without a rate of its own (int64, bool ...) is computed at float32's."""
        return self.flops.get(dtype.removeprefix("torch."), self.flops["float32"])


@dataclass(frozen=True)
class Link:
    """The alpha-beta model of a message: n bytes take alpha + n·beta seconds (Hockney 1994)."""

    alpha: float  # seconds before the first byte arrives
    beta: float  # seconds for each byte
    source: str = ""
    links: int = 1  # to as many neighbours, each as fast as this: a message takes one, a collective all that it can

    def time(self, nbytes: float) -> float:
        return self.alpha + nbytes * self.beta

    @property
    def bandwidth(self) -> float:
        """Bytes per second, in one direction."""
        return 1 / self.beta

    def together(self, ranks: int) -> Link:
        """What a rank has for a collective among ``ranks`` that are all joined: a link to each of the others."""
        used = max(1, min(self.links, ranks - 1))
        return Link(self.alpha, self.beta / used, self.source, self.links)


@dataclass(frozen=True)
class Cluster:
    """Nodes of ``ranks_per_node`` devices. Rank r lives on node r // ranks_per_node.

    Each rank has a port of its own to either kind of link: 8 GPUs and 8 network cards in a node, as the vendors build.
    """

    name: str
    device: Device
    ranks_per_node: int
    inside: Link  # between two ranks of a node
    between: Link  # between ranks of two nodes
    source: str = ""
    cores: int | None = None  # of a node, shared by all of its ranks and their messages; None: a rank shares nothing
    memory_bandwidth: float | None = None  # bytes/s of a node, shared likewise; None: each device has its own

    def device_among(self, ranks: int) -> Device:
        """The device as each of ``ranks`` finds it, when all of them load and store at once."""
        if self.memory_bandwidth is None:
            return self.device
        share = self.memory_bandwidth / min(ranks, self.ranks_per_node, self.cores or ranks)
        return self.device if share >= self.device.memory_bandwidth else replace(self.device, memory_bandwidth=share)

    def node(self, rank: int) -> int:
        return rank // self.ranks_per_node

    def link(self, a: int, b: int) -> Link:
        """The link on which ranks a and b talk."""
        return self.inside if self.node(a) == self.node(b) else self.between

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cluster:
        """Read back what ``dataclasses.asdict`` made of a cluster."""
        parts = {
            "device": Device(**data["device"]),
            "inside": Link(**data["inside"]),
            "between": Link(**data["between"]),
        }
        return cls(**{**data, **parts})


def names() -> list[str]:
    """The names that ``find`` knows."""
    return sorted(_CATALOGUE)


def find(name: str) -> Cluster:
    """The cluster of that name; UsageError with the nearest names if there is none."""
    if not isinstance(name, str):
        raise UsageError(
            f"A cluster is asked for by its name, not by {name!r}.", f"Choose one of: {', '.join(names())}."
        )
    if name in _CATALOGUE:
        return _CATALOGUE[name]
    near = difflib.get_close_matches(name.lower().replace("_", "-").replace(" ", "-"), names(), n=3, cutoff=0.5)
    guess = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise UsageError(f"There is no cluster named {name!r}.{guess}", f"The clusters are: {', '.join(names())}.")


def _gpu(name: str, memory: float, bandwidth: float, source: str, **teraflops: float) -> Device:
    """A GPU with its memory in GB (1e9 bytes), its memory bandwidth in TB/s and its rates in TFLOP/s."""
    rates = {dtype: rate * 1e12 for dtype, rate in teraflops.items()}
    return Device(name, rates, bandwidth * 1e12, int(memory * 1e9), 4e-6, f"{source}. Launch overhead: estimate, 4 µs.")


def _gpu_cluster(name: str, device: Device, inside: float, between: float, source: str, links: int = 1) -> Cluster:
    """Nodes of 8 GPUs, with GB/s in one direction of one GPU's link, inside a node and to another one."""
    latency = "alpha: NCCL tuning.cc, ring, Simple"
    return Cluster(
        name,
        device,
        8,
        Link(3.4e-6, 1e-9 / inside, f"{inside:g} GB/s a direction: ml-engineering; {latency}, NVLink.", links),
        Link(14e-6, 1e-9 / between, f"{between:g} GB/s a direction for each GPU; {latency}, network."),
        source,
    )


def _server(name: str, gigabits: float) -> Cluster:
    """CPU-only nodes on Ethernet: one rank a node, all 64 cores of it."""
    source = (
        "AMD EPYC 7763 data sheet: 64 cores at 2.45 GHz base, 8 channels of DDR4-3200 (204.8 GB/s); AVX2 does "
        "2 fused multiply-adds of 8 float32 a cycle and core, so 32 FLOP; bfloat16 has no instructions of its own. "
        "Launch overhead: estimate, a small torch operation on a CPU, about 2 µs (this course's survey)."
    )
    peak = 64 * 2.45e9 * 32
    rates = {"float64": peak / 2, "float32": peak, "float16": peak, "bfloat16": peak}
    wire = Link(
        25e-6, 8e-9 / gigabits, f"{gigabits:g} Gbit/s Ethernet at its wire rate; alpha: Feng 2003, with a switch."
    )
    return Cluster(
        name,
        Device("EPYC 7763", rates, 204.8e9, 256 * 10**9, 2e-6, source),
        1,
        Link(65e-6, 1 / 1.5e9, "gloo loopback."),
        wire,
        "A textbook cluster: servers without GPUs on one Ethernet switch, 256 GB of memory each.",
    )


def _laptop() -> Cluster:
    source = (
        "AMD Ryzen 7 5800U data sheet: 8 cores at 1.9 GHz base, 16 GB LPDDR4-4266 (68.3 GB/s); AVX2 as above. A rank "
        "is one core with an eighth of the memory. Launch overhead: estimate, about 2 µs (our survey)."
    )
    peak = 1.9e9 * 32
    rates = {"float64": peak / 2, "float32": peak, "float16": peak, "bfloat16": peak}
    core = Device("Ryzen 7 5800U, one core", rates, 68.3e9 / 8, 2 * 10**9, 2e-6, source)
    loopback = Link(65e-6, 1 / 1.5e9, "gloo loopback.")
    home = Link(150e-6, 8e-9, "Gigabit Ethernet at its wire rate; alpha: estimate, 150 µs, a small home switch.")
    return Cluster(
        "laptop", core, 8, loopback, home, "A textbook laptop; two of them would talk over Gigabit Ethernet.", cores=8
    )


_V100 = _gpu(
    "V100 SXM2 32GB", 32, 0.9, "NVIDIA V100 data sheet; Cornell", float64=7.8, float32=15.7, float16=125, bfloat16=15.7
)
_A100 = _gpu(
    "A100 SXM 80GB", 80, 2.039, "ml-engineering (312 TFLOP/s) and NVIDIA A100 data sheet",
    float64=9.7, float32=19.5, tfloat32=156, float16=312, bfloat16=312,
)  # fmt: skip
_H100 = _gpu(
    "H100 SXM 80GB", 80, 3.35, "ml-engineering (989 TFLOP/s) and NVIDIA H100 data sheet",
    float64=34, float32=67, tfloat32=494, float16=989, bfloat16=989, float8_e4m3fn=1979, float8_e5m2=1979,
)  # fmt: skip
_H200 = _gpu(
    "H200 SXM 141GB", 141, 4.8, "ml-engineering (989 TFLOP/s) and NVIDIA H200 data sheet",
    float64=34, float32=67, tfloat32=494, float16=989, bfloat16=989, float8_e4m3fn=1979, float8_e5m2=1979,
)  # fmt: skip
_B200 = _gpu(
    "B200 SXM 180GB", 180, 8, "ml-engineering (2250 TFLOP/s); HGX B200; NVIDIA DGX B200 data sheet (64 TB/s for eight)",
    float64=37, float32=75, tfloat32=1125, float16=2250, bfloat16=2250, float8_e4m3fn=4500, float8_e5m2=4500,
)  # fmt: skip
_MI300X = _gpu(
    "MI300X 192GB", 192, 5.3, "ml-engineering (1300 TFLOP/s) and AMD MI300X data sheet",
    float64=81.7, float32=163.4, tfloat32=653.7, float16=1300, bfloat16=1300, float8_e4m3fn=2615, float8_e5m2=2615,
)  # fmt: skip

_CATALOGUE: Mapping[str, Cluster] = MappingProxyType(
    {
        c.name: c
        for c in (
            _gpu_cluster(
                "dgx-v100", _V100, 150, 6.25,
                "DGX-1 V100: six NVLink2 links a GPU, taken together although two GPUs share one or two of them; "
                "4 x 100 Gbit/s EDR InfiniBand for 8 GPUs.",
            ),
            _gpu_cluster("dgx-a100", _A100, 300, 25, "DGX A100: NVLink3 with NVSwitch; 8 x 200 Gbit/s HDR InfiniBand."),
            _gpu_cluster("dgx-h100", _H100, 450, 50, "DGX H100: NVLink4 with NVSwitch; 8 x 400 Gbit/s NDR InfiniBand."),
            _gpu_cluster("h200", _H200, 450, 50, "HGX H200: NVLink4 with NVSwitch; 8 x 400 Gbit/s NDR InfiniBand."),
            _gpu_cluster("dgx-b200", _B200, 900, 50, "DGX B200: NVLink5 with NVSwitch; 8 x 400 Gbit/s NDR InfiniBand."),
            _gpu_cluster(
                "mi300x", _MI300X, 64, 50,
                "8 x MI300X: seven Infinity Fabric links of 64 GB/s a GPU, one to each neighbour, so 448 GB/s for a "
                "collective over all 8, and 64 for two GPUs; 8 x 400 Gbit/s; alpha as on NVLink.",
                links=7,
            ),
            _server("commodity-10g", 10),
            _server("commodity-25g", 25),
            _laptop(),
        )
    }
)  # fmt: skip
