"""A host that keeps Adam's state and sees how much of it is on the device at a time: for the check of ``offload``."""

from __future__ import annotations

import math
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_pre_hook

from lockstep.residency import booked

Array = np.ndarray[Any, np.dtype[np.float32]]
Given = tuple[list[Tensor], list[list[Tensor]], float]  # parameters, gradients of each step, rate


class WatchedHost:
    """``states``: m and v of each layer, as NumPy arrays. ``calls``: "load" or "store" with the layer. ``most``: layers
    whose state was on the device at once, as far as it was loaded or stored here."""

    def __init__(self, numels: Sequence[int]) -> None:
        self.states: list[tuple[Array, Array]] = [(np.zeros(n, np.float32), np.zeros(n, np.float32)) for n in numels]
        self.calls: list[tuple[str, int]] = []
        self.most = 0
        self._passed: list[tuple[int, weakref.ref[torch.UntypedStorage]]] = []

    def load(self, layer: int) -> tuple[Tensor, Tensor]:
        m, v = (torch.from_numpy(state).clone() for state in self.states[layer])
        self._pass("load", layer, m, v)
        return m, v

    def store(self, layer: int, m: Tensor, v: Tensor) -> None:
        for name, tensor in (("m", m), ("v", v)):
            if not isinstance(tensor, Tensor) or tensor.shape != self.states[layer][0].shape:
                n = len(self.states[layer][0])
                raise ValueError(f"{name} of layer {layer} is a tensor of {n} numbers, and this is {tensor!r:.60}")
        self._pass("store", layer, m, v)
        first, second = (tensor.detach().cpu().numpy().astype(np.float32) for tensor in (m, v))
        self.states[layer] = first.copy(), second.copy()

    def on_device(self) -> int:
        """Layers from which some loaded or stored tensor is alive."""
        return len({layer for layer, storage in self._passed if storage() is not None})

    def _pass(self, what: str, layer: int, *state: Tensor) -> None:
        self.calls.append((what, layer))
        self._passed += [(layer, weakref.ref(tensor.untyped_storage())) for tensor in state]
        self.most = max(self.most, self.on_device())


def observed(
    fn: Callable[..., Any], parameters: Sequence[Tensor], gradients: Sequence[Sequence[Tensor]], rate: float
) -> dict[str, Any]:
    """Facts of a step of ``fn`` for each entry of ``gradients``: what it leaves, and what it holds."""
    own = [w.clone() for w in parameters]
    host, held = WatchedHost([len(w) for w in own]), 0
    facts: dict[str, Any] = {"after": [], "state": [], "calls": [], "left": 0, "optimizer": ""}
    for step, given in enumerate(gradients, start=1):
        mine = [g.clone() for g in given]
        with stepped() as optimizers:
            _, most = booked(fn, [*own], mine, host, step, rate)  # who puts new tensors into the list is seen
        facts["optimizer"] = next(iter(optimizers), facts["optimizer"])
        held, host.calls, calls = max(held, most["peak"]), [], host.calls
        facts["left"] = max(facts["left"], host.on_device())
        facts["calls"].append([f"{what} {layer}" for what, layer in calls])
        facts["after"].append([w.detach().clone() for w in own])
        facts["state"].append([[torch.from_numpy(array.copy()) for array in state] for state in host.states])
    facts |= {"often": "", "missing": ""} | _miscounted(facts["calls"], len(own))
    return facts | {"held": held, "most": host.most, "largest": max(w.nbytes for w in own)}


@contextmanager
def stepped() -> Iterator[list[str]]:
    """The names of torch's optimizers that step meanwhile."""
    names = list[str]()
    handle = register_optimizer_step_pre_hook(lambda optimizer, *_: names.append(type(optimizer).__name__))
    try:
        yield names
    finally:
        handle.remove()


def _miscounted(calls: Sequence[Sequence[str]], layers: int) -> dict[str, str]:
    """What comes "often" in a step, and what is "missing" in one: of each layer one load and one store are wanted."""
    wanted = [f"{what} {layer}" for layer in range(layers) for what in ("load", "store")]
    found = {}
    for counted in map(Counter, calls):
        for call in wanted:
            if counted[call] != 1:
                found["often" if counted[call] else "missing"] = call.replace(" ", " of layer ")
    return found


# ---- what it should be


def drawn(seed: int, sizes: Sequence[int], steps: int, scale: float = 1.0, idle: int | None = None) -> Given:
    """Layers of ``sizes`` numbers, and gradients of about ``scale``; from step ``idle`` on layer 1 has zeros."""
    generator = torch.Generator().manual_seed(seed)
    gradients = [[torch.randn(n, generator=generator) * scale for n in sizes] for _ in range(steps)]
    for of_layers in gradients[idle - 1 :] if idle else ():
        of_layers[1].zero_()
    return [torch.randn(n, generator=generator) for n in sizes], gradients, 0.0625


def first_wrong(
    facts: dict[str, Any], parameters: Sequence[Tensor], gradients: Sequence[Sequence[Tensor]], rate: float
) -> dict[str, Any]:
    """The first number that is not torch's: "wrong" is "w", "m", "v", or "" for none. "stands": nothing has changed."""
    found: dict[str, Any] = {"wrong": "", "stands": all(map(torch.equal, facts["after"][0], parameters))}
    for step, layer, name, want in _by_torch(parameters, gradients, rate):
        held = facts["after"][step][layer] if name == "w" else facts["state"][step][layer]["mv".index(name)]
        held = held if held.shape == want.shape else torch.full_like(want, torch.nan)
        off = (~torch.isclose(held, want, rtol=1e-5, atol=float(1e-6 * want.abs().max()))).nonzero().flatten().tolist()
        if off:
            there = {"step": step + 1, "layer": layer, "at": off[0]}
            found |= {"wrong": name, **there, "is": held[off[0]].item(), "want": want[off[0]].item()}
            state = _of_state(facts, parameters, gradients, rate, found)
            return found | {"state": state, "still": _still(gradients, found)}
    return found


def _of_state(
    facts: dict[str, Any],
    parameters: Sequence[Tensor],
    gradients: Sequence[Sequence[Tensor]],
    rate: float,
    w: dict[str, Any],
) -> str:
    """What the host has of the number of which the parameter is wrong, in a sentence."""
    there, at = (w["step"] - 1, w["layer"]), w["at"]
    for step, layer, name, want in _by_torch(parameters, gradients, rate):
        if name != "w" and (step, layer) == there:
            held, right = facts["state"][step][layer]["mv".index(name)][at].item(), want[at].item()
            if not math.isclose(held, right, rel_tol=1e-4, abs_tol=1e-12):
                return f"Its {name} on the host is {held:.6g}, and should be {right:.6g}."
    other = _another_step(facts, parameters, gradients, rate, w)
    return f"Its m and v on the host are right: look at what follows them.{other}"


def _another_step(
    facts: dict[str, Any],
    parameters: Sequence[Tensor],
    gradients: Sequence[Sequence[Tensor]],
    rate: float,
    w: dict[str, Any],
) -> str:
    """Whether the layer's parameters are those of another number of a step, in a sentence."""
    step, layer = w["step"], w["layer"]
    right = {(s, i, name): value for s, i, name, value in _by_torch(parameters, gradients, rate) if i == layer}
    m, v = (right[step - 1, layer, name].double() for name in "mv")
    before = parameters[layer] if step == 1 else right[step - 2, layer, "w"]
    held = facts["after"][step - 1][layer].double()
    for t in {*range(1, 30)} - {step} if held.shape == before.shape else ():
        moved = rate * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
        if torch.allclose(held, before - moved, rtol=1e-5, atol=1e-6):
            return f" They are corrected as in step {t}: count by `step`, which is {step}."
    return ""


def _still(gradients: Sequence[Sequence[Tensor]], wrong: dict[str, Any]) -> str:
    """What goes on where the gradient is zero."""
    if gradients[wrong["step"] - 1][wrong["layer"]][wrong["at"]]:
        return ""
    return " Its gradient is 0 in this step, but the old m still moves w, and m and v shrink."


def _by_torch(
    given: Sequence[Tensor], gradients: Sequence[Sequence[Tensor]], rate: float
) -> Iterator[tuple[int, int, str, Tensor]]:
    """Step, layer, "w", "m" or "v", and what it is; of a step all parameters first."""
    parameters = [w.clone().requires_grad_() for w in given]
    adam = torch.optim.Adam(parameters, lr=rate)
    for step, of_layers in enumerate(gradients):
        for w, g in zip(parameters, of_layers, strict=True):
            w.grad = g
        adam.step()
        yield from ((step, layer, "w", w.detach().clone()) for layer, w in enumerate(parameters))
        for layer, w in enumerate(parameters):
            yield step, layer, "m", adam.state[w]["exp_avg"].clone()
            yield step, layer, "v", adam.state[w]["exp_avg_sq"].clone()


def about(facts: dict[str, Any]) -> list[str]:
    """What is left, but for rounding, and what was called."""
    left = [tensor for of_step in facts["after"] for tensor in of_step]
    left += [tensor for of_step in facts["state"] for of_layer in of_step for tensor in of_layer]
    return [f"{tensor.double().abs().sum():.3g}" for tensor in left] + sorted(facts["calls"][0])
