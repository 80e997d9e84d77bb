"""A loader's budget, and a job's goodput.

    A sample takes t seconds of a core; W workers load W/t samples a second, at most those of the cores. A GPU that
    takes g samples a second needs W >= g·t. Storage of S bytes/s gives S/bytes samples a second.

    d   seconds to write a checkpoint     t   seconds of training between two     M   seconds between failures
    R   seconds until the job runs again

    loss = d/t + (t/2 + R)/M              goodput = 1/(1 + loss)              t = sqrt(2·d·M) makes it best

Source of the second: Young, "A first order approximation to the optimum checkpoint interval", CACM 1974. Both are
approximations for t and R much smaller than M.
"""

from __future__ import annotations

from math import ceil, sqrt

from lockstep.errors import UsageError


def workers_needed(samples_per_second: float, seconds_per_sample: float) -> int:
    """The least number of workers, a core each, that keep up with what takes ``samples_per_second``."""
    if not (samples_per_second > 0 and seconds_per_sample > 0):
        raise UsageError("Samples a second, and seconds of a sample, are above zero.")
    return ceil(samples_per_second * seconds_per_sample * (1 - 1e-12))


def fed(samples_per_second: float, seconds_per_sample: float, workers: int, cores: int | None = None) -> float:
    """The share of its time in which a device that takes ``samples_per_second`` has something to compute."""
    at_once = workers if cores is None else min(workers, cores)
    return min(1.0, at_once / seconds_per_sample / samples_per_second)


def goodput(interval: float, write: float, between: float, restart: float) -> float:
    """The mean share of the time that the training keeps, as above; seconds."""
    return 1 / (1 + lost(interval, write, between, restart))


def lost(interval: float, write: float, between: float, restart: float) -> float:
    """Seconds lost for each second of training."""
    return write / interval + (interval / 2 + restart) / between


def best_interval(write: float, between: float) -> float:
    """Young's: seconds of training between two checkpoints."""
    return sqrt(2 * write * between)
