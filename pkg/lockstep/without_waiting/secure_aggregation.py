"""Secure aggregation: the server learns the sum of the clients' numbers, and no client's own numbers.

    v_i  a rank's numbers      s_ij = s_ji  a secret of ranks i and j      m(s)  a mask: random numbers from a secret

Each pair of ranks has a mask. One adds it, the other takes it off, all modulo M = 2**32:

    y_i = v_i + sum of m(s_ij) over j > i - sum of m(s_ij) over j < i    mod M

    rank 0     v_0 + m_01 + m_02
    rank 1     v_1 - m_01 + m_12        each y_i alone is uniform: any v_i fits it equally well
    rank 2     v_2 - m_02 - m_12
    sum        v_0 + v_1 + v_2          the masks are gone

Modulo M matters. A sum that is not reduced leaks information: 2**32 + 7 implies that v is at least 8 if the mask is
below 2**32. And a drop-out breaks the protocol: when y_2 is missing, m_02 and m_12 stay in the sum, which is then
random. The full protocol splits each secret into shares (Shamir), from which those who are left can reconstruct the
secrets of those who are gone; and each rank adds a mask of its own, so that one who was only late is not exposed by
that.

Real numbers travel as whole multiples of 2**-16, negative ones from the top of the range: ``encoded``, ``decoded``.
In practice secrets come from a Diffie-Hellman key agreement, and masks from a cipher. Here both are drawn from a seed,
which hides nothing from anybody who knows torch.

Source: K. Bonawitz et al., Practical Secure Aggregation for Privacy-Preserving Machine Learning, CCS 2017, section 4.0
(masking with one-time pads).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.tables import Table
from lockstep.without_waiting.mask import M, Mask

UNIT = 2.0**-16  # of real numbers
Secrets = Sequence[int | None]  # of a rank, by the other's; None for itself


def masked_sum(
    value: Tensor, secrets: Secrets, mask: Callable[[int], Tensor], group: dist.ProcessGroup | None = None
) -> Tensor:
    """The sum of all ranks' values modulo 2**32. ``value`` is int64, from 0 to 2**32 - 1, and stays as it was.
    ``secrets[j]`` is the one that this rank shares with rank j of the group. One all-reduce of |value| numbers."""
    total = masked(value, dist.get_rank(group), secrets, mask)
    dist.all_reduce(total, group=group)  # K·2**32 at most: no overflow
    return total % M


def masked(value: Tensor, rank: int, secrets: Secrets, mask: Callable[[int], Tensor]) -> Tensor:
    """y_i, what rank i sends: its value plus and minus the masks that it shares with the others, modulo 2**32."""
    y = value.clone()
    for other, secret in enumerate(secrets):
        if secret is not None:
            y += mask(secret) if rank < other else -mask(secret)
    return y % M


def shared_secrets(ranks: int, seed: int = 0) -> list[list[int | None]]:
    """[i][j]: the secret of ranks i and j, as both would have it after a key agreement."""
    drawn = torch.randint(0, 2**62, (ranks, ranks), generator=torch.Generator().manual_seed(seed)).tolist()
    return [[drawn[min(i, j)][max(i, j)] if i != j else None for j in range(ranks)] for i in range(ranks)]


def sum_of_those_left(
    values: Sequence[Tensor], gone: Collection[int] = (), repaired: bool = False, seed: int = 0
) -> Tensor:
    """The sum that the server gets when the ranks in ``gone`` drop out after all have agreed on secrets. ``repaired``:
    the others have revealed the secrets that they share with those ranks, and the server subtracts these masks."""
    secrets, mask = shared_secrets(len(values), seed), Mask(tuple(values[0].shape))
    left = [rank for rank in range(len(values)) if rank not in gone]
    total = torch.stack([masked(values[rank], rank, secrets[rank], mask) for rank in left]).sum(0)
    if repaired:
        for rank in left:
            stayed = [secret if other in gone else None for other, secret in enumerate(secrets[rank])]
            total -= masked(torch.zeros_like(total), rank, stayed, mask)
    return total % M


def encoded(x: Tensor) -> Tensor:
    """Real numbers in fixed point, as int64 from 0 to 2**32 - 1, to be added modulo 2**32. Sums from -32,768 to 32,767
    can be decoded."""
    return (x / UNIT).round().to(torch.int64) % M


def decoded(total: Tensor) -> Tensor:
    """The real numbers, float64, of a sum of encoded ones."""
    return (total - M * (total >= M // 2)).double() * UNIT


def table_of_drop_outs(ranks: int = 5, seed: int = 0) -> Table:
    """What the server gets for one real number of each rank: when all answer, when the last rank drops out, and when
    its masks are then subtracted."""
    numbers = [torch.tensor([float(rank + 1)]) for rank in range(ranks)]
    values, gone = [encoded(x) for x in numbers], [ranks - 1]
    tried = {
        "all ranks answer": ((), False),
        f"rank {gone[0]} drops out": (gone, False),
        "the others tell the secrets they share with it": (gone, True),
    }
    rows = []
    for told, (missing, repaired) in tried.items():
        right = sum(float(x) for rank, x in enumerate(numbers) if rank not in missing)
        found = float(decoded(sum_of_those_left(values, missing, repaired, seed)))
        rows.append([told, f"{right:g}", f"{found:,.4f}"])
    caption = f"{ranks} ranks with the numbers 1 to {ranks}, masked in pairs."
    return Table(caption, ["", "sum of those who answered", "what the server gets"], rows)
