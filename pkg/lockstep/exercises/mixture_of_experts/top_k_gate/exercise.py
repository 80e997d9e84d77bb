"""The gate: choices in order where scores are equal, weights that don't overflow, and gradients of all scores."""

from lockstep.checks.evidence_rules import Rule
from lockstep.checks.exercise import Comparison, Costs, Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.mixture_of_experts import observed_gate
from lockstep.exercises.mixture_of_experts.flowing import Flowing

RULES = (
    Rule("wrong-values", lambda e: e["wrong"] == "choices", "a token with the scores {scores} has the choices {held}, "
         "not {best}.{equal}"),
    Rule("wrong-values", lambda e: e["wrong"] == "weights", 'with softmax="{softmax}", a token with the scores '
         "{scores} has the weights {held}, which add up to {total:.4g}; they are {best}, and add up to {all:.4g}."),
)  # fmt: skip


def grown(seen: Seen) -> tuple[int, int, str]:
    counted = [evidence["called"] for evidence in seen.returned[0]]
    return observed_gate.grown(counted) if str(seen.case) == observed_gate.SIZES else (0, 0, "")


def economise(seen: Seen) -> list[Fault]:
    few, many, which = grown(seen)
    told = f"You call torch {few} times for 4 tokens and 8 experts, and {many} times for {which} (a list of n numbers"
    fault = Fault("too-many-calls", f"{told} counts n times): no loop over tokens or experts is needed.", telling=True)
    return [fault] if which else []


EXERCISE = Flowing(
    observed_gate, names=("the tensor of choices", "the tensor of weights"),
    asked="a tuple of two tensors, the choices and their weights,", by=["scores"], rules=RULES,
).exercise(
    trivial="no token, or one expert", number=2, title="The gate", points=3, minutes=15,
    parameters="scores, k, softmax", reference="lockstep.experts.gate:top_k_gate",
    values=Values(share=0.75), costs=Costs(economise=economise),
    comparison=Comparison(footprint=lambda seen: grown(seen)[2]),
    feedback=Feedback(
        hints=[("stack expects a non-empty", "There may be no tokens. Without a loop, that needs no case of its own.")],
    ),
)  # fmt: skip
