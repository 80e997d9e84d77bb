"""Name the experts: by their part of each kind of bytes, where the most frequent kind is often another one."""

from lockstep.checks.exercise import Feedback, Run, Values
from lockstep.exercises.arithmetic import arithmetic
from lockstep.exercises.mixture_of_experts.drawn_experts import TRIED
from lockstep.experts.training import KINDS, SIGNS, kind_of


def steps(tokens: list[int], experts: list[int], count: int) -> str:
    """Of all tokens, and of each kind, what each expert has got."""
    kinds, said = [kind_of(byte) for byte in tokens], []
    for name, among in [("all tokens", set(kinds)), *((kind, {kind}) for kind in (*KINDS, SIGNS))]:
        of_kind = [i for i, kind in zip(experts, kinds, strict=True) if kind in among]
        if of_kind:
            said.append(
                f"of {name} {', '.join(f'{100 * of_kind.count(i) / len(of_kind):.4g}' for i in range(count))} %"
            )
    return f"the experts got {'; '.join(said)}."


EXERCISE = arithmetic(
    TRIED,
    trivial=("one expert",),
    number=1,
    title="Name the expert",
    points=3,
    minutes=20,
    parameters="tokens, experts, count",
    reference="lockstep.experts.functional:name_the_expert",
    values=Values(share=1.0),
    run=Run(timeout=10.0),
    feedback=Feedback(steps=steps, answer="a list of `count` names, each a string,"),
)
