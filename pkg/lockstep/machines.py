"""Machine models: a Device computes, a Link carries messages, and a Cluster joins devices by links of two kinds.

``find(name)`` returns a cluster of the catalogue, as its vendor sells it: all ranks are equal. Stragglers, slow links
and jitter are added to it:

    find("dgx-a100").with_rank(3, speed=0.5)               rank 3 takes twice as long for all computation
    find("dgx-a100").with_rank(3, memory=40e9)             its device has 40 GB
    find("dgx-a100").with_link(0, 5, bandwidth=1e9)        1 GB/s between ranks 0 and 5, in each direction
    find("dgx-a100").with_jitter(compute=0.1, seed=7)      compute times vary at random, by 10 %

All numbers are published peaks, unless they are marked *estimate*. Real runs reach 70 to 90 % of them, which is the
subject of a lesson (``cost.collectives`` has what NCCL and RCCL reach of a link). Sources, quoted below by these names:

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
  two-core server. ``lockstep.this_machine.survey`` measures yours.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from lockstep.errors import UsageError
from lockstep.events import Unequal


@dataclass(frozen=True)
class Device:
    """The compute device of one rank: a GPU, a whole server, or one core."""

    name: str
    flops: Mapping[str, float] = field(hash=False)  # dtype name, as "bfloat16" -> FLOP/s of a matrix product
    memory_bandwidth: float  # bytes/s
    memory: int  # bytes
    launch_overhead: float  # seconds that any operation takes at least
    source: str = ""
    is_gpu: bool = False

    def peak(self, dtype: str) -> float:
        """Peak FLOP/s for ``dtype``. A dtype that is not listed (int64, bool ...) has float32's rate."""
        return self.flops.get(dtype.removeprefix("torch."), self.flops["float32"])

    def at(self, speed: float) -> Device:
        """This device scaled to ``speed`` times its rates, memory bandwidth and launch rate, so that every computation
        takes exactly 1/speed of the time."""
        if speed == 1:
            return self
        return replace(
            self,
            flops={dtype: rate * speed for dtype, rate in self.flops.items()},
            memory_bandwidth=self.memory_bandwidth * speed,
            launch_overhead=self.launch_overhead / speed,
            source=f"{self.source} All of it times {speed:g}.",
        )


@dataclass(frozen=True)
class Link:
    """The alpha-beta model of a message: n bytes take alpha + n·beta seconds (Hockney 1994)."""

    alpha: float  # seconds before the first byte arrives
    beta: float  # seconds for each byte
    source: str = ""
    links: int = 1  # links of this speed to as many neighbours: a message uses one, a collective as many as it can

    def time(self, nbytes: float) -> float:
        return self.alpha + nbytes * self.beta

    @property
    def bandwidth(self) -> float:
        """Bytes per second, in one direction."""
        return 1 / self.beta

    def together(self, ranks: int) -> Link:
        """The aggregate link of a rank in a collective among ``ranks`` directly connected ranks."""
        used = max(1, min(self.links, ranks - 1))
        return Link(self.alpha, self.beta / used, self.source, self.links)


@dataclass(frozen=True)
class Jitter:
    """Random variation of times: each is multiplied by a random factor of mean 1 (``cost.contention``).

    ``compute`` and ``messages`` are coefficients of variation, standard deviation / mean: 0.1 is 10 %."""

    compute: float = 0.0  # of the computation between two communications
    messages: float = 0.0  # of each message and collective
    seed: int = 0


@dataclass(frozen=True)
class Cluster:
    """Nodes of ``ranks_per_node`` devices, joined by a network. Rank r is on node r // ranks_per_node.

    Each rank has its own port to each of the two kinds of link, as in nodes with 8 GPUs and 8 network cards. All ranks,
    and all links of a kind, are equal except where ``with_rank`` and ``with_link`` change them. Each of these methods
    returns a new cluster; a later change of the same quantity replaces an earlier one.
    """

    name: str
    device: Device
    ranks_per_node: int
    inside: Link  # between two ranks of a node
    between: Link  # between ranks of two nodes
    source: str = ""
    cores: int | None = None  # per node, shared by its ranks and their messages; None: nothing is shared
    memory_bandwidth: float | None = None  # bytes/s per node, shared by its ranks; None: each device has its own
    unequal: tuple[Unequal, ...] = ()  # ranks and links that differ, sorted
    jitter: Jitter | None = None

    # ---- unequal ranks

    def with_rank(self, rank: int, speed: float | None = None, memory: float | None = None) -> Cluster:
        """This cluster with a different rank ``rank``: ``speed`` times as fast as ``device`` (``Device.at``), or with
        ``memory`` bytes. Runs without such a rank are not affected. Raises UsageError for invalid numbers."""
        what = {
            "speed": _number("speed", speed, "0.5 is half as fast as the others"),
            "memory": _number("memory", memory, "it is in bytes: memory=40e9 is 40 GB"),
        }
        return self._differing((_rank(rank),), what, "with_rank", "speed=0.5 or memory=40e9")

    def with_link(self, a: int, b: int, bandwidth: float | None = None, latency: float | None = None) -> Cluster:
        """This cluster with a different link between ranks ``a`` and ``b``, in both directions: ``bandwidth`` in
        bytes/s (1 / beta), ``latency`` in seconds (alpha). It uses the same ports as before. A collective runs at the
        speed of the slowest link of its group (``cost.collectives``). Raises UsageError for invalid numbers."""
        ends = tuple(sorted((_rank(a), _rank(b))))
        if a == b:
            raise UsageError(f"Rank {a} has no link to itself.", "Name two ranks: with_link(0, 5, bandwidth=1e9).")
        what = {
            "bandwidth": _number("bandwidth", bandwidth, "it is in bytes per second: bandwidth=1e9 is 1 GB/s"),
            "latency": _number("latency", latency, "it is in seconds: latency=20e-6 is 20 µs", zero=True),
        }
        return self._differing(ends, what, "with_link", "bandwidth=1e9 or latency=20e-6")

    def with_jitter(self, compute: float = 0.0, messages: float = 0.0, seed: int = 0) -> Cluster:
        """This cluster with random times (``Jitter``): the same in every run with the same ``seed``, whatever the order
        in which ranks are simulated. Raises UsageError for invalid numbers."""
        for name, value in (("compute", compute), ("messages", messages)):
            _number(name, value, "it is a standard deviation divided by a mean: 0.1 is 10 %", zero=True)
        if not compute and not messages:
            raise UsageError("with_jitter() changes nothing.", "Say how much: with_jitter(compute=0.1, messages=0.1).")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise UsageError(f"The seed of jitter is a whole number, not {seed!r}.", "Write seed=0.")
        return replace(self, jitter=Jitter(compute, messages, seed))

    def _differing(self, ranks: tuple[int, ...], what: Mapping[str, float | None], call: str, example: str) -> Cluster:
        new = {(ranks, name): value for name, value in what.items() if value is not None}
        if not new:
            told = ", ".join(map(str, ranks))
            raise UsageError(f"{call}({told}) changes nothing.", f"Say what differs: {call}({told}, {example}).")
        merged = {(u.ranks, u.what): u.value for u in self.unequal} | new
        return replace(self, unequal=tuple(Unequal(*key, value) for key, value in sorted(merged.items())))

    def differences(self, ranks: int) -> tuple[Unequal, ...]:
        """The differences that affect a run of ``ranks`` ranks; jitter, which affects all ranks, comes last."""
        found = [u for u in self.unequal if max(u.ranks) < ranks]
        if self.jitter:
            drawn = {"compute jitter": self.jitter.compute, "message jitter": self.jitter.messages}
            found += [Unequal((), name, value) for name, value in drawn.items() if value]
        return tuple(found)

    @cached_property
    def special_links(self) -> Mapping[tuple[int, int], Link]:
        """The links that ``with_link`` has changed, by their ends, the lower rank first."""
        pairs = {u.ranks for u in self.unequal if len(u.ranks) == 2}
        return {(a, b): self._changed_link(a, b) for a, b in pairs}

    def _changed_link(self, a: int, b: int) -> Link:
        link, what = self._usual_link(a, b), self._changes((a, b))
        beta = 1 / what["bandwidth"] if "bandwidth" in what else link.beta
        return Link(what.get("latency", link.alpha), beta, f"{link.source} Changed by with_link.", link.links)

    def _changed_device(self, device: Device, rank: int) -> Device:
        what = self._changes((rank,))
        device = device.at(what.get("speed", 1.0))
        return replace(device, memory=int(what["memory"])) if "memory" in what else device

    def _changes(self, ranks: tuple[int, ...]) -> dict[str, float]:
        return {u.what: u.value for u in self.unequal if u.ranks == ranks}

    # ---- the resources of a rank

    def device_of(self, rank: int) -> Device:
        """The device of ``rank``."""
        return self._changed_device(self.device, rank)

    def device_among(self, ranks: int, rank: int | None = None) -> Device:
        """The device of each of ``ranks`` ranks, with its share of the memory bandwidth when all use it at once; with
        ``rank``, the device of that rank."""
        device = self.device
        if self.memory_bandwidth is not None:
            share = self.memory_bandwidth / min(ranks, self.ranks_per_node, self.cores or ranks)
            device = device if share >= device.memory_bandwidth else replace(device, memory_bandwidth=share)
        return device if rank is None else self._changed_device(device, rank)

    def memory_among(self, ranks: int, rank: int) -> int:
        """The memory of ``rank``, one of ``ranks`` ranks, in bytes. Ranks that share the cores of a node share its
        memory, too: if there are fewer ranks than cores, they also have the memory of the idle cores."""
        memory = self.device_of(rank).memory
        if self.cores is None or "memory" in self._changes((rank,)):
            return memory
        return memory * max(1, self.cores // min(ranks, self.ranks_per_node))

    def node(self, rank: int) -> int:
        return rank // self.ranks_per_node

    def is_inside(self, a: int, b: int) -> bool:
        """Whether ranks a and b are on the same node."""
        return a // self.ranks_per_node == b // self.ranks_per_node

    def link(self, a: int, b: int) -> Link:
        """The link between ranks a and b."""
        usual = self._usual_link(a, b)
        return self.special_links.get((min(a, b), max(a, b)), usual) if self.unequal else usual

    def _usual_link(self, a: int, b: int) -> Link:
        return self.inside if a // self.ranks_per_node == b // self.ranks_per_node else self.between

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cluster:
        """The cluster that ``dataclasses.asdict`` turned into ``data``."""
        parts = {
            "device": Device(**data["device"]),
            "inside": Link(**data["inside"]),
            "between": Link(**data["between"]),
            "unequal": tuple(Unequal.from_json(u) for u in data.get("unequal", ())),
            "jitter": Jitter(**data["jitter"]) if data.get("jitter") else None,
        }
        return cls(**{**data, **parts})


def _rank(rank: object) -> int:
    if isinstance(rank, bool) or not isinstance(rank, int) or rank < 0:
        raise UsageError(f"A rank is a whole number from 0 on, not {rank!r}.", "Name it by its number, as in 0 or 3.")
    return rank


def _number(name: str, value: Any, meaning: str, zero: bool = False) -> float | None:
    """``value`` if it is finite and positive (``zero``: or zero); None if it was not given."""
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and (0 < value < math.inf or (zero and value == 0)):
        return float(value)
    bound = "of at least 0" if zero else "above 0"
    raise UsageError(f"{name} is a number {bound}, not {value!r}.", f"Give {name} as a number: {meaning}.")


def names() -> list[str]:
    """The names that ``find`` knows."""
    return sorted(_CATALOGUE)


def find(name: str) -> Cluster:
    """The cluster of that name. Raises UsageError with similar names if there is none."""
    if not isinstance(name, str):
        raise UsageError(
            f"A cluster is asked for by its name, not by {name!r}.", f"Choose one of: {', '.join(names())}."
        )
    if name in _CATALOGUE:
        return _CATALOGUE[name]
    near = difflib.get_close_matches(name.lower().replace("_", "-").replace(" ", "-"), names(), n=3, cutoff=0.5)
    guess = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise UsageError(f"There is no cluster named {name!r}.{guess}", f"The clusters are: {', '.join(names())}.")


def alpha_beta(alpha: float, beta: float) -> Cluster:
    """An idealized cluster for counting: a message of n bytes takes alpha + n·beta seconds between any two ranks, and
    computation takes no time.

    With alpha=1, beta=0 the time of a run is its number of rounds; with alpha=0, beta=1 it is the number of bytes on
    the critical path."""
    no_work = Device("no work", {"float32": 1e30}, memory_bandwidth=1e30, memory=10**12, launch_overhead=0.0)
    return Cluster(f"alpha={alpha:g}, beta={beta:g}", no_work, 4096, Link(alpha, beta), Link(alpha, beta))


def _gpu(name: str, memory: float, bandwidth: float, source: str, **teraflops: float) -> Device:
    """A GPU: memory in GB (1e9 bytes), memory bandwidth in TB/s, rates in TFLOP/s."""
    rates = {dtype: rate * 1e12 for dtype, rate in teraflops.items()}
    return Device(
        name, rates, bandwidth * 1e12, int(memory * 1e9), 4e-6, f"{source}. Launch overhead: estimate, 4 µs.", True
    )


def _gpu_cluster(name: str, device: Device, inside: float, between: float, source: str, links: int = 1) -> Cluster:
    """Nodes of 8 GPUs; ``inside`` and ``between``: GB/s per GPU and direction, within a node and between nodes."""
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
    """CPU-only nodes on Ethernet: one rank per node, with all its 64 cores."""
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
