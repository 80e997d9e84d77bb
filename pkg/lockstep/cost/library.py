"""What NCCL and RCCL reach of a machine's links, by the numbers in their own sources. A data sheet promises more.

    n      bytes of the tensor        K      ranks, all in one node        B      bytes a second that a GPU reaches

    algorithm        through each port       reached
    ring             2(K-1)/K · n            B
    in the switch      (K+1)/K · n           B · efficiency of NVLS

A message over NVLink has headers, and a kernel cannot keep all links busy all the time. NCCL reckons with 20 GB/s for a
link that has 25 (Volta, Ampere), 20.6 (Hopper), 40.1 for one that has 50 (Blackwell); RCCL with 48 GB/s for a link of
the MI300X that has 64.

From Hopper on the switch adds up (NVLS, "NVLink SHARP"). A GPU asks it for the sum of its share: for that each GPU puts
its whole tensor on its wire once, and the share, n/K, comes back. Then it sends its sum to the switch, n/K, which hands
it to all: n come in. So n + n/K each way, instead of nearly 2n: a "bus bandwidth" above that of the wire is no error.

Published, all of them: NVIDIA/nccl, src/graph/topo.h (``SM70_NVLINK_BW`` ...) and tuning.cc (``nvlsEfficiency``); RCCL,
topo.h (``GFX94X_XGMI_WIDTH``); for network cards SimAI (aliyun/SimAI, calbusbw.h: ``CX6_BW``, ``CX7_BW``). None is
fitted to the measurements that ``lockstep bench predict`` compares them with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from lockstep.cost.network import collective_time, slowest_links
from lockstep.machines import Cluster, Link

GB = 1e9


@dataclass(frozen=True)
class Reach:
    """Bytes per second and direction: of one of the ``Link.links`` inside a node, of a GPU's network card; and the part
    of the first that is left when the switch adds up (0: it cannot)."""

    inside: float
    between: float
    in_switch: float = 0.0


REACHED: Mapping[str, Reach] = MappingProxyType(
    {
        "dgx-v100": Reach(6 * 20.0 * GB, 23.5 / 4 * GB),
        "dgx-a100": Reach(12 * 20.0 * GB, 23.5 * GB),
        "dgx-h100": Reach(18 * 20.6 * GB, 48.5 * GB, 0.85),
        "h200": Reach(18 * 20.6 * GB, 48.5 * GB, 0.85),
        "dgx-b200": Reach(18 * 40.1 * GB, 48.5 * GB, 0.74),
        "mi300x": Reach(48.0 * GB, 48.5 * GB),
    }
)


def as_reached(cluster: Cluster) -> Cluster:
    """The cluster with the bandwidths that a library reaches; itself, where nobody has published any."""
    reach = REACHED.get(cluster.name)
    if reach is None:
        return cluster
    return replace(cluster, inside=_at(cluster.inside, reach.inside), between=_at(cluster.between, reach.between))


def library_all_reduce(nbytes: int, ranks: int, cluster: Cluster, in_switch: bool = True) -> float:
    """Seconds of an all-reduce of ranks 0 to K-1: by the model at the reached bandwidths, or in the switch if that is
    faster. ``in_switch``: whether the library may use it (``NCCL_NVLS_ENABLE``)."""
    reached = as_reached(cluster)
    by_model = collective_time("all_reduce", nbytes, range(ranks), reached)
    efficiency = REACHED[cluster.name].in_switch if cluster.name in REACHED else 0.0
    if not in_switch or not efficiency or not 1 < ranks <= cluster.ranks_per_node:
        return by_model
    inside, _ = slowest_links(range(ranks), reached)
    return min(by_model, 2 * inside.alpha + (ranks + 1) / ranks * nbytes * inside.beta / efficiency)


def _at(link: Link, bandwidth: float) -> Link:
    return replace(link, beta=1 / bandwidth)
