"""Seconds of communication, by axis: each group of GPUs lies on the levels that its numbering puts it on.

A group of K GPUs, ``stride`` apart, in NVLink domains of D: k = min(K, D / stride) of them share a domain. What a GPU
puts on its wires, with n bytes of the whole tensor on each:

    all-reduce                    2·(K-1)/K·n by a ring; in the NVLink switch (NVLS) (K+1)/K·n
    all-gather, reduce-scatter    (K-1)/K·n
    all-to-all                    (K-1)/K·n, of which (K-k)/K·n over the network

*FP8 dispatch* (DeepSeek-V3, arXiv:2412.19437, section 3.3.3): tokens on their way to experts, and gradients on their
way to the same experts in the backward pass, are numbers of 8 bits, and each 128 of them have a scale of 32 bits
(section 3.3.2). The way back, the combine, stays in bfloat16, forward and backward.

Between domains the k GPUs of each share the work, every one with its own network card: the network has 1/k of the
bytes. Link rates are those that were measured (``clusters``); a call costs as much as a short one.
"""

from __future__ import annotations

from functools import lru_cache

from lockstep.planner.clusters import Cluster

# Seconds of an all-reduce beside its bytes, by ``allreduce_busbw_measured`` (P6-B200): short ones take 45 µs on 8 GPUs,
# long ones up to 90 µs more than their bytes until all of its pipeline is busy, and 420 µs on 4 nodes whatever they are
# (the "4-node example" of the same table takes 100 µs). All-gather and reduce-scatter take half.
CALL, FILL, FILLED_AT, FAR_CALL = 45e-6, 90e-6, 8 * 2**20, 420e-6
DISPATCHED = {"bf16": 2.0, "fp8": 1.0 + 4 / 128}  # bytes of a number on its way to an expert
COMBINED = 2.0  # and back
MESSAGE = 8e-6  # seconds until a message's kernel runs; estimate


@lru_cache(maxsize=50_000)
def levels(cluster: Cluster, size: int, stride: int) -> tuple[int, int]:
    """(GPUs of the group in a domain, domains that it spans)."""
    inside = max(1, min(size, cluster.domain // stride))
    while size % inside:
        inside -= 1
    return inside, size // inside


@lru_cache(maxsize=50_000)
def collective(cluster: Cluster, nbytes: float, size: int, stride: int, both_ways: bool, network: float = 1.0) -> float:
    """Seconds of an all-reduce (``both_ways``) or of an all-gather or a reduce-scatter of ``nbytes``."""
    if size == 1:
        return 0.0
    k, nodes = levels(cluster, size, stride)
    ways = 2 if both_ways else 1
    wire = cluster.inside * cluster.inside_share
    sent = ways * (k - 1) / k * nbytes
    if both_ways and nodes == 1 and cluster.switch_sums and k > 2:
        sent = min(sent, (k + 1) / k * nbytes)
    inside = sent / wire
    between = ways * (nodes - 1) / nodes * nbytes / k / (cluster.between * cluster.between_share * network)
    call = CALL + FILL * nbytes / (nbytes + FILLED_AT) if nodes == 1 else FAR_CALL
    return call * ways / 2 + max(inside, between)  # NCCL's pieces keep both kinds of link busy at once


@lru_cache(maxsize=50_000)
def all_to_all(cluster: Cluster, nbytes: float, size: int, stride: int, copies: int) -> float:
    """Seconds in which each GPU sends ``nbytes`` to all others alike. A token that goes to several experts of a domain
    crosses the network once: ``copies`` experts are in ``nodes`` domains at most."""
    if size == 1:
        return 0.0
    _, nodes = levels(cluster, size, stride)
    wire = cluster.inside * cluster.inside_share
    inside = (size - 1) / size * nbytes / wire
    once = nodes * (1 - (1 - 1 / nodes) ** copies) / copies  # of ``copies``, how many go to different domains
    between = (nodes - 1) / nodes * nbytes * once / (cluster.between * cluster.between_share)
    return CALL / 2 + max(inside, between)


@lru_cache(maxsize=50_000)
def message(cluster: Cluster, nbytes: float, stride: int) -> float:
    """Seconds of a message to the next stage, ``stride`` GPUs further."""
    if stride < cluster.domain:
        return MESSAGE + cluster.inside_latency + nbytes / (cluster.inside * cluster.inside_share)
    return MESSAGE + cluster.between_latency + nbytes / (cluster.between * cluster.between_share)
