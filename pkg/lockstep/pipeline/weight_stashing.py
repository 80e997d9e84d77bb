"""Weight stashing in PipeDream: a stage that updates its weights while minibatches are in flight keeps the old ones.

    F0 uses w        F1 uses w        B0: gradient at w, update: w -> w'        B1 still needs w

``WeightVersions`` is what the worker uses:

(1) A forward pass does not use the parameters themselves but *aliases*: separate tensors on the same memory.
(2) Before an update, if a pending forward pass has used the newest weights, the parameters move to a copy. The aliases
    keep the old memory until their backward pass is over. So there are as many copies as versions in use.
(3) After the backward pass the aliases' gradients become those of the parameters.

Without stashing, (2) is left out: the update overwrites the memory that the aliases share, and the backward pass
multiplies by weights that its forward pass has not used. Autograd forbids that for parameters ("modified by an inplace
operation"); aliases made with ``.data`` are not tracked.

Version v of a stage's weights is the one after v updates of this stage. ``weight_version`` is the version that a pass
uses, in closed form for an endless row of minibatches; s is this stage, p the number of stages, i a minibatch:

    rule            F of i                      B of i
    none            max(0, i - p + s + 1)       i
    stashing        max(0, i - p + s + 1)       the same as F
    vertical sync   max(0, i - p + 1)           the same, on every stage: what F of i uses on stage 0

Stage s begins with p - s forward passes. From then on, each F is preceded by one backward pass and its update: F of i
follows the updates 0 to i - (p - s), so it uses version max(0, i - (p - s) + 1). B of i comes right after update i - 1.

``pipedream`` is a stage's stream with the points at which versions can be freed. A version is dropped as soon as it is
neither the newest nor used by a minibatch whose B is pending: right after an update, which makes it old, or right after
the backward pass that was the last to need it.

Source: Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019, section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn
from torch.func import functional_call

from lockstep.pipeline.instructions import Pair, orders
from lockstep.pipeline.schedules.one_f_one_b import one_f_one_b

RULES = ("none", "stashing", "vertical sync")


@dataclass(eq=False)
class Version:
    """The weights that one forward pass has used: calling it applies the chunk with them."""

    chunk: nn.Module
    aliases: dict[str, Tensor]
    newest: bool = True

    def __call__(self, x: Tensor) -> Tensor:
        y: Tensor = functional_call(self.chunk, self.aliases, x)
        return y


class WeightVersions:
    """All versions of a chunk's weights that are in use. With ``stash=False`` there is only the newest."""

    def __init__(self, chunk: nn.Module, stash: bool = True) -> None:
        self.chunk, self.stash = chunk, stash
        self.in_use = list[Version]()

    def use(self) -> Version:
        """The version for a forward pass that begins now."""
        aliases = {name: p.data.requires_grad_(p.requires_grad) for name, p in self.chunk.named_parameters()}  # (1)
        self.in_use.append(Version(self.chunk, aliases))
        return self.in_use[-1]

    def before_update(self) -> None:
        """(2) Preserve the newest weights if a pending backward pass needs them."""
        if not self.stash or not any(version.newest for version in self.in_use):
            return
        for p in self.chunk.parameters():
            p.data = p.data.clone()  # (2)
        for version in self.in_use:
            version.newest = False

    def release(self, version: Version) -> None:
        """(3) Called when the version's backward pass is over."""
        for name, p in self.chunk.named_parameters():
            gradient = version.aliases[name].grad
            if gradient is not None:
                p.grad = gradient if p.grad is None else p.grad.add_(gradient)  # (3)
        self.in_use.remove(version)


# ---- which version a pass uses


def weight_version(stage: int, stages: int, minibatch: int, which: str, rule: str) -> int:
    """The number of updates in the weights that pass ``which`` ("F" or "B") of the minibatch uses."""
    if rule == "none" and which == "B":
        return minibatch
    first = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - first) + 1)


# ---- when a version can be dropped


def pipedream(stage: int, stages: int, minibatches: int) -> list[Pair]:
    """A stage's stream of ("F", i), ("B", i), ("U", i) and ("drop", v)."""
    newest, used, alive, stream = 0, dict[int, int](), {0}, list[Pair]()
    for kind, i in orders(one_f_one_b(stage, stages, minibatches)):
        for what in "F" if kind == "F" else "BU":
            stream.append((what, i))
            if what == "F":
                used[i] = newest
            elif what == "B":
                del used[i]
            else:
                newest += 1
                alive.add(newest)
            for v in sorted(alive - {newest, *used.values()}):
                stream.append(("drop", v))
                alive.remove(v)
    return stream


def mistake(answer: Sequence[Pair], stage: int, stages: int, minibatches: int) -> str:
    """What is wrong with the first pair that differs from ``pipedream``'s stream, as a sentence; "" if none does."""
    right = pipedream(stage, stages, minibatches)
    at = next((n for n, (a, b) in enumerate(zip(answer, right, strict=False)) if a != b), min(len(answer), len(right)))
    if at == len(answer) == len(right):
        return ""
    if at == len(answer):
        return f"ends after {at} pairs; {right[at]} has to follow."
    if at == len(right):
        return f"goes on after pair {at - 1}, the last one, with {answer[at]}."
    return f"has {answer[at]} as pair {at}, counted from 0. {_why(answer[at], right[at], right[:at], minibatches)}"


def _why(is_there: Pair, wanted: Pair, before: Sequence[Pair], minibatches: int) -> str:
    """Why ``is_there`` is wrong at the point where the streams diverge; ``before`` is what they have in common."""
    newest, used = 0, dict[int, int]()
    for kind, i in before:
        newest += kind == "U"
        used |= {i: newest} if kind == "F" else {}
        if kind == "B":
            del used[i]
    kind, v = is_there
    if kind != "drop" and not 0 <= v < minibatches:
        return f"There is no minibatch {v}; {wanted} comes there."
    if wanted[0] == "drop":
        return f"Version {wanted[1]} is old there, and no minibatch that waits for its B has used it: drop it first."
    if kind != "drop":
        return f"{wanted} comes first."
    waiting = [i for i, version in used.items() if version == v]
    if waiting:
        return f"F of {waiting[0]} has used version {v}, and B of {waiting[0]} is still to come."
    return f"Version {v} is the newest one there." if v == newest else f"There is no version {v} there."
