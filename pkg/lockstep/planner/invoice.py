"""What a whole training run takes and costs, with the failures that it will have.

    M   seconds between two interruptions          d   seconds to write a checkpoint
    R   seconds until the job runs again           t   seconds between two checkpoints

A failure loses t/2 on average and R; writing takes d of every t. The loss is least at t = sqrt(2·d·M) (Young, "A first
order approximation to the optimum checkpoint interval", CACM 1974; Daly, FGCS 2006, refines it):

    loss = d/t + (t/2 + R)/M          goodput = 1/(1 + loss)

Sources: Llama 3 (arXiv:2407.21783, section 3.3.4): 466 interruptions in 54 days on 16,384 GPUs, effective training time
above 90 %; section 3.3.1: storage of 2 TB/s for them. A checkpoint is 14 bytes a parameter: weights, master weights,
moments (the 13.8 TB of a model of 1,008 billion in arXiv:2104.04473, section 5.10).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from lockstep.cost.loading import best_interval, goodput

SECONDS_PER_DAY = 24 * 3600
GPU_SECONDS_BETWEEN = 54 * SECONDS_PER_DAY * 16384 / 466
CHECKPOINT_BYTES = 13.8e12 / 1008e9  # a parameter
STORAGE = 2e12 / 16384  # bytes/s of a GPU's share
RESTART = 10 * 60.0  # seconds; estimate, so that Llama 3's goodput comes to 90 to 95 %


@dataclass(frozen=True)
class Invoice:
    """Of ``tokens`` tokens. ``dollars`` is None without a price."""

    tokens: float
    days: float  # with failures
    days_without_failures: float
    gpu_hours: float
    dollars: float | None
    interruptions: float
    hours_between_interruptions: float
    checkpoint_seconds: float
    checkpoint_interval: float  # seconds, the best one
    goodput: float

    def to_json(self) -> dict[str, float | None]:
        return asdict(self)


def invoice(
    tokens_per_second: float,
    gpus: int,
    parameters: float,
    tokens: float | None = None,
    days: float | None = None,
    price: float | None = None,
) -> Invoice:
    """Of ``tokens`` tokens, or of what ``days`` days bring. ``price``: dollars for an hour of a GPU."""
    between = GPU_SECONDS_BETWEEN / gpus
    writing = CHECKPOINT_BYTES * parameters / (STORAGE * gpus)
    interval = best_interval(writing, between)
    good = goodput(interval, writing, between, RESTART)
    if tokens is None:
        tokens = (days or 0) * SECONDS_PER_DAY * good * tokens_per_second
    needed = tokens / tokens_per_second / SECONDS_PER_DAY
    hours = needed / good * 24 * gpus
    return Invoice(
        tokens, needed / good, needed, hours, None if price is None else hours * price,
        needed / good * SECONDS_PER_DAY / between, between / 3600, writing, interval, good,
    )  # fmt: skip
