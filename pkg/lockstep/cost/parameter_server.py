"""How fast can workers be served? A parameter server has one port in and one port out, and all go through them.

    K      workers
    S      servers, each with n/S bytes
    n      bytes of the parameters, and of a gradient
    c      seconds in which a worker computes a gradient
    α, β   seconds a message, seconds a byte

A step of a worker: it gets w, computes for c, sends its gradient. Alone it takes c + 2(S·α + n·β), since its own port
carries all n bytes, too. A server takes gradients in by one port and sends w out by the other, both at once, so that
each worker keeps it busy for α + n/S·β, and all of them for K times that:

    asynchronous     max( c + 2(S·α + n·β),  K(α + n/S·β) )          seconds in which each worker does one step
    all-reduce       c + the all-reduce, about 2(K-1)/K·n·β          does not grow with K, but for α

The server is *saturated* from K = (c + 2(S·α + n·β)) / (α + n/S·β) workers on: more of them make nothing faster.
Source: M. Li et al., Communication Efficient Distributed Machine Learning with the Parameter Server, NIPS 2014; ports
as in ``cost.algorithms``.
"""

from __future__ import annotations

import math

from lockstep.cost.network import collective_time
from lockstep.errors import UsageError
from lockstep.machines import Cluster


def served_seconds(workers: int, servers: int, nbytes: float, compute: float, alpha: float, beta: float) -> float:
    """Seconds in which each of the workers does one asynchronous step, when all are under way."""
    alone = _alone(servers, nbytes, compute, alpha, beta)
    return max(alone, workers * server_seconds(servers, nbytes, alpha, beta))


def server_seconds(servers: int, nbytes: float, alpha: float, beta: float) -> float:
    """Seconds for which each server's ports are busy with one step of one worker: its gradient in, and w out."""
    if servers < 1:
        raise UsageError(f"Somebody has to serve: {servers} servers cannot.")
    return alpha + nbytes / servers * beta


def saturated_from(servers: int, nbytes: float, compute: float, alpha: float, beta: float) -> int:
    """The number of workers from which on the servers' ports are always busy."""
    return math.ceil(_alone(servers, nbytes, compute, alpha, beta) / server_seconds(servers, nbytes, alpha, beta))


def all_reduce_step_seconds(workers: int, nbytes: int, compute: float, cluster: Cluster) -> float:
    """Seconds of a step in which all compute, and then all-reduce their gradients."""
    return compute + collective_time("all_reduce", nbytes, range(workers), cluster)


def _alone(servers: int, nbytes: float, compute: float, alpha: float, beta: float) -> float:
    """Seconds of a step of a worker that never has to wait."""
    return compute + 2 * (servers * alpha + nbytes * beta)
