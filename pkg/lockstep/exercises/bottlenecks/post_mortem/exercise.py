"""From the dumps of the flight recorder: at which rank a hang began, at which line, and why."""

from typing import Any

from lockstep.bottlenecks.hung_ranks import CAUSES, post_mortem, waiting
from lockstep.checks.exercise import Feedback, Run, Values
from lockstep.checks.values import told
from lockstep.exercises.arithmetic import arithmetic
from lockstep.exercises.bottlenecks.varied_dumps import TRIED, Dumps


def apart(answer: Any, right: Any) -> str:
    """The first of the three parts that is wrong, and nothing of the right ones: who has read a day's would know it."""
    rank, line, cause = answer
    if rank != right.rank:
        return f"rank {told(rank)}; the hang did not begin there"
    if line != right.line:
        return f"the right rank, and the line {told(line)}, which is not the one that is asked for"
    return f"the right rank and line, and the cause {told(cause)}; it is another one"


def remark(answer: Any, dumps: Dumps) -> str:
    """What is true of a wrong rank that an answer names."""
    if not isinstance(answer, (list, tuple)) or len(answer) != 3:
        return ""
    rank, waits = answer[0], waiting(dumps)
    if rank in waits and rank != post_mortem(dumps).rank:
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
        answer=f"a tuple (rank, line, cause), with a cause of {', '.join(map(repr, CAUSES))},",
        remark=remark,
        apart=apart,
    ),
)
