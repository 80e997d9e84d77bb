"""What programs reach of a device's data sheet: the rate of large matrix products, and the bandwidth of its memory.

    as_built        what a data sheet promises: the clusters of ``machines``
    as_reached      links by what NCCL and RCCL reckon with (``cost.collectives``), devices by what was measured

One number for each device and kind of limit, for all programs and sizes: none is fitted to a training step.

Sources.
  products     MAMF, "maximum achievable matmul FLOPS": the best product of 16-bit matrices that a search over shapes
               has found (github.com/stas00/ml-engineering, compute/accelerator): 271.2 of 312 TFLOP/s on an A100
  memory       1.80 of 2.04 TB/s, 88 %, by a kernel that only reads, on an A100 SXM 80GB (forums.developer.nvidia.com,
               "Trouble to reach peak bandwidth of A100"). The same share is taken for the other GPUs: an *estimate*
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from lockstep.cost.collectives import as_reached as links_as_reached
from lockstep.machines import Cluster

MATRIX_PRODUCTS: Mapping[str, float] = MappingProxyType(  # FLOP/s in 16 bits, by cluster
    {
        "dgx-a100": 271.2e12,
        "dgx-h100": 794.5e12,
        "h200": 794.5e12,
        "dgx-b200": 1745.0e12,
        "mi300x": 668.4e12,
    }
)
SIXTEEN_BITS = ("float16", "bfloat16")
MEMORY = 0.88  # of the bandwidth


def as_reached(cluster: Cluster) -> Cluster:
    """The cluster as programs find it; the cluster itself where nothing was measured. Rates in other than 16 bits are
    scaled by the same share."""
    found = MATRIX_PRODUCTS.get(cluster.name)
    if found is None:
        return cluster
    device = cluster.device
    share = found / device.peak("float16")
    return replace(
        links_as_reached(cluster),
        device=replace(
            device,
            flops={dtype: rate * share for dtype, rate in device.flops.items()},
            memory_bandwidth=device.memory_bandwidth * MEMORY,
            source=f"{device.source} As reached: {share:.0%} in products, {MEMORY:.0%} of the memory's bandwidth.",
        ),
    )
