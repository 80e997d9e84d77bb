"""The semantics of backends, as far as they differ: gloo (rendezvous), MPI and NCCL.

    rule                                         rendezvous   mpi        nccl       source
    eager sends: complete without a receive      never        ≤ 64 KiB   ≤ 512 KiB  (1)
    tags distinguish messages of a pair          yes          yes        no         (2)
    receive from any source                      yes          yes        no         (3)
    operations of a rank execute in order        no           no         yes        (4)

(1) gloo waits for the receiver. MPI may buffer ("standard mode", MPI 4.1, section 3.4); 64 KiB is Open MPI's limit over
    TCP (btl_tcp_eager_limit). NCCL copies what fits into one of the 8 slots of a connection's buffer (NCCL_BUFFSIZE,
    4 MiB) and goes on: NVIDIA/nccl#544 counted messages of 512 KiB, pytorch#129341 saw one of 264 KiB, nccl#1456 asks.
    How much fits into all slots depends on the connection; here the limit applies to each message by itself.
(2) pytorch#94819, #125079: "tag may be supplied, but will be ignored when used with nccl".
(3) ProcessGroupNCCL has no recvAnysource: torch raises.
(4) NVIDIA/nccl#479: two ranks that both send first, then receive, deadlock; with grouped operations they do not. torch
    gives each pair of ranks its own communicator and stream for operations posted individually, and uses the group's
    for collectives and for ``batch_isend_irecv``, whose operations execute at once, as an NCCL group.

A program that is correct under ``replace(NCCL, eager=-1)`` relies on none of these.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from lockstep.errors import UsageError


@dataclass(frozen=True)
class Rules:
    """The semantics of a backend."""

    name: str
    eager: int = -1  # bytes of the largest message whose send completes at once; -1: none does
    tags: bool = True
    any_source: bool = True
    in_order: bool = False


RENDEZVOUS = Rules("rendezvous")
MPI = Rules("mpi", eager=64 * 1024)
NCCL = Rules("nccl", eager=512 * 1024, tags=False, any_source=False, in_order=True)

STRICT = Rules("strict", in_order=True)  # a program that is correct under them is so under all, except for (2) and (3)

_KNOWN = {rules.name: rules for rules in (RENDEZVOUS, MPI, NCCL)}


def find(rules: str | Rules) -> Rules:
    """The rules of that name. Raises UsageError with the known names if there are none."""
    if isinstance(rules, Rules):
        return rules
    if rules in _KNOWN:
        return _KNOWN[rules]
    near = difflib.get_close_matches(str(rules).lower(), _KNOWN, 1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"There are no rules named {rules!r}.{guess}", f"The rules are: {', '.join(_KNOWN)}.")
