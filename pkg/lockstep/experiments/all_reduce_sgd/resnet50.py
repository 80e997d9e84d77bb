"""The lecture notes' example, recalculated: ResNet-50, 256 workers, 32 images each, with one master for all of them.

    n       bytes of the gradients, and of the model: 0.1 GB
    K       workers: 256
    link    300 GB/s in the notes: what six NVLinks of a V100 carry in both directions together

The notes: 0.33 s of computing, 2·K·n / link = 0.16 s of communication, "communication adds 50 % of the time". The
speed of ResNet-50 on a V100 is published: ``data/nvidia_resnet50_v100.csv`` has NVIDIA's runs (with 96 and 128 images a
step; the time of 32 is calculated at the same rate, and would be a little longer), ``data/goyal_systems.csv`` the
numbers of Goyal et al., arXiv:1706.02677, for its predecessor, the P100. The first lines of both files give the source
of each number. The networks of V100 servers are in ``lockstep.machines``.
"""

from __future__ import annotations

from typing import NamedTuple

from lockstep.cost.collectives import collective_time
from lockstep.cost.data_parallel import all_reduce_seconds, smallest_batch_that_hides
from lockstep.machines import find
from lockstep.tables import Table, published

NBYTES, WORKERS, LINK = 10**8, 256, 300e9  # as in the notes
SMALL, LARGE = 32, 128  # images
BACKWARD = 2 / 3  # of a step: a backward pass takes twice the FLOP of the forward pass (cost/training.py)
SERVERS = "dgx-v100"


class Span(NamedTuple):
    """The least and the most of several measurements."""

    least: float
    most: float


class ResNet50(NamedTuple):
    """Times in seconds."""

    images: Span  # a second, on one V100 in float32
    small: Span  # a step of 32 images
    large: Span  # a step of 128
    on_a_p100: float  # the backward pass of 32, on the GPU before
    shared_link: float  # 2·K·n through one link of 300 GB/s
    percent_small: Span  # what that adds to a step of 32 images
    percent_large: Span
    one_card: float  # what 32 servers of 8 GPUs take: through the network card of the master's GPU, in, then out
    ring: float  # among the same GPUs, over their network cards
    two_levels: float  # reduce-scatter in each server, all-reduce between them on 8 cards at once, all-gather
    percent_ring: Span  # what the ring adds to a step of 32 images if nothing hides it
    hides: int  # images from which on the backward pass hides the ring


def resnet50() -> ResNet50:
    """The example's numbers, each from what was measured and from the formulas of the course."""
    rates = [float(row["throughput"]) for row in published("experiments/all_reduce_sgd", "nvidia_resnet50_v100.csv")]
    p100 = next(
        float(row["value"])
        for row in published("experiments/all_reduce_sgd", "goyal_systems.csv")
        if "32 images on one P100" in row["item"]
    )
    servers = find(SERVERS)
    link, elsewhere = servers.between, WORKERS - servers.ranks_per_node
    small, large = (Span(images / max(rates), images / min(rates)) for images in (SMALL, LARGE))
    shared_link = 2 * WORKERS * NBYTES / LINK
    ring = all_reduce_seconds(NBYTES, WORKERS, link.alpha, link.beta)
    return ResNet50(
        images=Span(min(rates), max(rates)),
        small=small,
        large=large,
        on_a_p100=p100 / 1000,
        shared_link=shared_link,
        percent_small=_percent(shared_link, small),
        percent_large=_percent(shared_link, large),
        one_card=2 * elsewhere * link.time(NBYTES),
        ring=ring,
        two_levels=collective_time("all_reduce", NBYTES, range(WORKERS), servers),
        percent_ring=_percent(ring, small),
        hides=smallest_batch_that_hides(BACKWARD, NBYTES, WORKERS, link.alpha, link.beta, max(rates)),
    )


def resnet50_table() -> Table:
    """Where we differ from the notes, and why."""
    found, servers = resnet50(), find(SERVERS)
    link = servers.between
    rows = [
        (
            f"A V100 takes 0.33 s for a step of {SMALL} images",
            f"{_of(found.small, '.3f')} s; {LARGE} images take {_of(found.large, '.2f')} s",
            f"NVIDIA's own runs in float32: {_of(found.images, '.0f')} images a second. The P100 before it takes "
            f"{found.on_a_p100:.2f} s for the backward pass of {SMALL} (Goyal et al.).",
        ),
        (
            "Communication takes 0.16 s",
            f"{found.shared_link:.3f} s",
            f"2·{WORKERS}·{NBYTES / 1e9:.1f} GB / {LINK / 1e9:.0f} GB/s",
        ),
        (
            "It adds 50 % of the time",
            f"{_of(found.percent_small, '.0f')} %; with {LARGE} images {_of(found.percent_large, '.0f')} %",
            f"{found.shared_link:.3f} s, beside the steps of the first row",
        ),
        (
            f"{WORKERS} workers share one NVLink of 300 GB/s",
            f"{found.one_card:.1f} s",
            f"NVLink joins the {servers.ranks_per_node} GPUs of a server, {servers.inside.bandwidth / 1e9:.0f} GB/s a "
            f"direction. {WORKERS - servers.ranks_per_node} of the workers come over the network: "
            f"{link.bandwidth / 1e9:.2f} GB/s through the card of the master's GPU, in, then out.",
        ),
        (
            "The way out: another pattern of communication",
            f"a ring: {found.ring:.3f} s, {_of(found.percent_ring, '.0f')} %; hidden from {found.hides} images on",
            "2(K-1)·α + 2(K-1)/K·n·β over the same cards. The backward pass is two thirds of a step. In two levels, "
            f"in the servers and between them, it is {1e3 * found.two_levels:.1f} ms.",
        ),
    ]
    return Table(f"ResNet-50 on {WORKERS} V100s", ("a common claim", "we count", "why"), rows)


def _percent(added: float, step: Span) -> Span:
    return Span(100 * added / step.most, 100 * added / step.least)


def _of(span: Span, form: str) -> str:
    return f"{span.least:{form}} to {span.most:{form}}"
