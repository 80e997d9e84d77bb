"""Weight stashing: a stage that updates while micro-batches are under way keeps the weights that each of them has seen.

    F0 uses w        F1 uses w        B0: gradient for w, update: w -> w'        B1 still needs w

(1) A forward pass does not use the parameters themselves but *aliases*: tensors of their own on the same memory.
(2) Before an update, if a forward pass waits that has used the newest weights, the parameters move to a copy. The
    aliases keep the old memory until their backward pass is over. So there are as many copies as versions in use.
(3) After the backward pass the aliases' gradients are those of the parameters.

Without stashing (2) is left out: the update writes into the memory that the aliases are on, and the backward pass
multiplies with weights that its forward pass has never seen. autograd forbids that to parameters ("modified by an
inplace operation"); aliases made by ``.data`` are not watched.

Source: Narayanan et al., PipeDream, SOSP 2019, section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.func import functional_call


@dataclass(eq=False)
class Version:
    """The weights that one forward pass has used."""

    chunk: nn.Module
    aliases: dict[str, Tensor]
    newest: bool = True

    def __call__(self, x: Tensor) -> Tensor:
        y: Tensor = functional_call(self.chunk, self.aliases, x)
        return y


class WeightVersions:
    """All versions of a chunk's weights that are in use. ``stash=False``: there is only one, the newest."""

    def __init__(self, chunk: nn.Module, stash: bool = True) -> None:
        self.chunk, self.stash = chunk, stash
        self.in_use = list[Version]()

    def use(self) -> Version:
        """For a forward pass that begins now."""
        aliases = {name: p.data.requires_grad_(p.requires_grad) for name, p in self.chunk.named_parameters()}  # (1)
        self.in_use.append(Version(self.chunk, aliases))
        return self.in_use[-1]

    def before_update(self) -> None:
        if not self.stash or not any(version.newest for version in self.in_use):
            return
        for p in self.chunk.parameters():
            p.data = p.data.clone()  # (2)
        for version in self.in_use:
            version.newest = False

    def release(self, version: Version) -> None:
        """Its backward pass is over."""
        for name, p in self.chunk.named_parameters():
            gradient = version.aliases[name].grad
            if gradient is not None:
                p.grad = gradient if p.grad is None else p.grad.add_(gradient)  # (3)
        self.in_use.remove(version)
