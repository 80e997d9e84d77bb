"""From the dumps of the flight recorder: at which rank a hang began, at which line, and why."""

from typing import Any

from lockstep.bottlenecks.hung_ranks import CAUSES, post_mortem, waiting
from lockstep.checks.exercise import Feedback, Run, Values
from lockstep.exercises.arithmetic import arithmetic
from lockstep.exercises.bottlenecks.varied_dumps import TRIED, Dumps


def remark(answer: Any, dumps: Dumps) -> str:
    """What is true of the rank that an answer names; or which of its three parts are right."""
    if not isinstance(answer, (list, tuple)) or len(answer) != 3:
        return ""
    rank, waits, right = answer[0], waiting(dumps), post_mortem(dumps)
    if rank == right.rank:
        wrong = [name for name, a, b in zip(("line", "cause"), answer[1:], right[1:], strict=True) if a != b]
        return f"The rank is right, the {' and the '.join(wrong)} not."
    if rank in waits:
        entry = waits[rank]
        return (
            f"Rank {rank} waits in {entry['profiling_name']}, number {entry['collective_seq_id']} of the group "
            f"{entry['process_group'][0]}. Which ranks does that wait for, and what do they wait in?"
        )
    return ""


EXERCISE = arithmetic(
    TRIED,
    number=4,
    title="Post-mortem",
    points=5,
    minutes=30,
    parameters="dumps",
    reference="lockstep.bottlenecks:post_mortem",
    values=Values(share=1.0),
    run=Run(timeout=30.0),
    feedback=Feedback(
        answer=f"a tuple (rank, line, cause), with a cause of {', '.join(map(repr, CAUSES))},", remark=remark
    ),
)
