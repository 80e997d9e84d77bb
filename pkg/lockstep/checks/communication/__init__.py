"""The exercises of unit 04, one file for each group of them, in the order of the lab."""

from lockstep.checks.communication.all_reduce import RING
from lockstep.checks.communication.choose import CHOOSE
from lockstep.checks.communication.fit import FIT
from lockstep.checks.communication.halving_doubling import HALVING_DOUBLING
from lockstep.checks.communication.mend import OUT_OF_ORDER_TAGS, RING_OF_SENDS, SKIPPED_COLLECTIVE
from lockstep.checks.communication.overlap import OVERLAPPED_STEP
from lockstep.checks.communication.ping_pong import PING_PONG
from lockstep.checks.communication.tree import BROADCAST, REDUCE

EXERCISES = (
    PING_PONG,
    FIT,
    BROADCAST,
    REDUCE,
    RING,
    HALVING_DOUBLING,
    CHOOSE,
    RING_OF_SENDS,
    SKIPPED_COLLECTIVE,
    OUT_OF_ORDER_TAGS,
    OVERLAPPED_STEP,
)

__all__ = ["EXERCISES"]
