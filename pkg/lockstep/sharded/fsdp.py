"""Fully sharded data parallel: a rank keeps 1/K of every parameter, and has a unit whole only while it computes.

    forward    1 gathers   ├─ u1 ─┤├─ u2 ─┤├─ u3 ─┤
                 computes          ├─ u1 ─┤├─ u2 ─┤├─ u3 ─┤
               2 lets go                  u1      u2      u3

    backward   3 gathers   ├─ u3 ─┤├─ u2 ─┤├─ u1 ─┤
                 computes          ├─ u3 ─┤├─ u2 ─┤├─ u1 ─┤
               4 reduces                  ├─ u3 ─┤├─ u2 ─┤├─ u1 ─┤
               5 optimizer                                        ├─ shards ─┤

A *unit* (u1, u2, u3) is a module, whose parameters are one flat vector of N numbers, padded to K·n. At rest each of K
ranks has a shard of n numbers, the *master*. Gradients and the optimizer's state are as long.

1. Before a unit computes, an all-gather makes it whole: K·n numbers. With ``prefetch`` the next unit's all-gather is
   posted then, and runs while this one computes: two units are whole.
2. After its forward pass the whole vector is freed. Autograd has kept views of it for the backward pass: their storage
   is emptied (``resize_(0)``), and filled again before they are read.
3. When the gradient of its output has arrived, the unit's backward pass begins: as 1, towards the first unit.
4. When the gradients of all its parameters have arrived, the whole vector is freed. A reduce-scatter leaves each rank
   its shard of the mean; with ``prefetch`` it runs while the unit before computes.
5. The shards' gradients accumulate over micro-batches. The optimizer sees nothing but shards.

A ring sends 3·(K-1)·n numbers of each unit in a step, where an all-reduce sends 2·(K-1)·N/K: 1.5 times the traffic
where all dtypes are equal (``experiments.fsdp.by_dtype`` counts the others). A rank holds 1/K of parameters, gradients
and optimizer's state; one unit whole, or two; and that unit's gradient, for a moment twice: as autograd leaves it, and
as one vector.

``zero3.fully_shard_model`` is the same algorithm as a loop over a list of layers, without hooks.

Sources: Zhao et al., PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel (VLDB 2023, arXiv:2304.11277),
sections 3.2 (units, flat parameters) and 3.3 (prefetch); Rajbhandari et al., ZeRO (SC 2020, arXiv:1910.02054), stage 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd import Variable
from torch.utils._pytree import tree_leaves, tree_map_only

from lockstep.errors import UsageError
from lockstep.sharded.flat import gathered, shard_of


class Unit:
    """One flat parameter. ``names``: its parameters, each once, by their names in the model."""

    def __init__(
        self, names: Mapping[str, nn.Parameter], group: dist.ProcessGroup | None, precision: torch.dtype | None
    ) -> None:
        self.names, self.parameters, self.group = list(names), list(names.values()), group
        self.sizes = [p.numel() for p in self.parameters]
        self.N, self.K = sum(self.sizes), dist.get_world_size(group)
        self.trained = check_alike(names)
        flat = torch.cat([p.detach().flatten() for p in self.parameters])  # (N,)
        nowhere = flat.new_full((), torch.nan, dtype=precision)  # the value of a parameter that is not gathered
        self.absent = [nowhere.expand(p.shape) for p in self.parameters]
        self.show(self.absent)  # frees the parameters' own tensors
        self.shard = nn.Parameter(shard_of(flat, dist.get_rank(group), self.K), self.trained)  # (n,)
        del flat
        self.whole = self.shard.new_empty(self.K * len(self.shard), dtype=precision, requires_grad=False)
        self.present = self.views(self.whole)
        self.gradient: Tensor | None = None  # (K·n,), during its backward pass
        self.places: list[Tensor] = []  # views of it, one for each parameter's gradient
        self.missing = set(self.parameters)  # whose gradients have not arrived
        self.in_backward = False
        self.transfer: Any = None  # the all-gather in flight
        self.free()

    def views(self, flat: Tensor) -> list[Tensor]:
        """``flat`` (N,) or (K·n,) as views in the parameters' shapes."""
        pieces = torch.split(flat[: self.N], self.sizes)
        return [piece.view(p.shape) for p, piece in zip(self.parameters, pieces, strict=True)]

    def post(self) -> None:
        """Start the all-gather, unless the unit is whole or being gathered."""
        storage = self.whole.untyped_storage()
        if storage.nbytes() == 0:
            storage.resize_(self.whole.nbytes)
            shard = self.shard.detach().to(self.whole.dtype)
            self.transfer = dist.all_gather_into_tensor(self.whole, shard, group=self.group, async_op=True)

    def gather(self) -> None:
        """Make the unit whole, and let its parameters be views of it."""
        self.post()
        if self.transfer is not None:
            self.transfer.wait()
            self.transfer = None
            self.show(self.present)

    def free(self) -> None:
        """Free the whole vector: only the shard is left."""
        if self.whole.untyped_storage().nbytes() == 0:
            return
        if self.transfer is not None:  # gathered ahead, and not used
            self.transfer.wait()
            self.transfer = None
        self.whole.untyped_storage().resize_(0)
        self.show(self.absent)

    def show(self, tensors: Sequence[Tensor]) -> None:
        for p, tensor in zip(self.parameters, tensors, strict=True):
            p.data = tensor

    def take(self, p: nn.Parameter, index: int) -> None:
        """Move ``p.grad`` to its place in the unit's gradient."""
        if self.gradient is None:
            self.gradient = torch.zeros_like(self.whole)
            self.places = self.views(self.gradient)
        self.places[index].copy_(_gradient(p))
        p.grad = None
        self.missing.discard(p)


class FullySharded(nn.Module):
    """``model``, sharded over ``group``. ``parameters()`` are the shards; after ``backward()`` each one's ``grad`` is a
    shard of the mean over the ranks. ``full_state()`` returns whole parameters, by their names in the model.

    ``units``: modules of the model, in the order of its forward pass; those without parameters are ignored. Parameters
    outside all of them form the model's *own* unit, whole from the beginning of the forward pass to the end of the
    backward pass. So without ``units`` the whole model is gathered at once.
    ``model`` may also be an iterable of modules that run one after another, each a unit. A generator builds each module
    after the previous one is sharded, so that no rank ever holds the whole model:
    ``FullySharded(linear(64, 64, 0, i) for i in range(96))``.
    ``reshard_after_forward=False`` leaves out 2, and with it the second all-gather (SHARD_GRAD_OP of FSDP).
    ``precision``: the dtype of gathered parameters, their gradients, and inputs. Shards keep theirs: they are the
    master.

    All ranks initialize the model alike (the same seed), and run the same units in the same order. A parameter shared
    by several modules belongs to one unit, and is used within that unit's forward pass. A frozen unit stays whole to
    the end of the backward pass. There is no ``no_sync``: it would keep whole gradients, where a reduce-scatter for
    each micro-batch leaves shards.
    """

    def __init__(
        self, model: nn.Module | Iterable[nn.Module], units: Iterable[nn.Module] = (), *,
        group: dist.ProcessGroup | None = None, reshard_after_forward: bool = True, prefetch: bool = True,
        precision: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.group, self.prefetch, self.precision = group, prefetch, precision
        self.reshard_after_forward = reshard_after_forward
        self.units: list[Unit] = []  # in the order of the forward pass, the model's own first
        self._reducing: tuple[Unit, Tensor, Any] | None = None  # whose gradient travels, to where
        self._in_pass = False
        if isinstance(model, nn.Module):
            names = {module: f"{name}." if name else "" for name, module in model.named_modules()}
            for module in units:
                self._add(module, check_part(module, names))
            self.module = model
        else:
            self.module = nn.Sequential()
            for index, module in enumerate(model):
                self._add(module, f"{index}.")
                self.module.append(module)
        self.own = self._add(self.module, "")
        if not any(unit.trained for unit in self.units):
            raise UsageError("The model has no parameter that requires a gradient.", "There is nothing to shard.")
        self.shards = nn.ParameterList(unit.shard for unit in self.units)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The model's output for this rank's share of the batch."""
        for unit in self.units:  # those still whole, from a forward pass without a backward pass, are out of date
            unit.free()
        if self.precision:
            args, kwargs = tree_map_only(Tensor, self._cast, (args, kwargs))
        return self.module(*args, **kwargs)

    # ---- the algorithm

    def _before_forward(self, unit: Unit, *_: Any) -> None:
        unit.gather()  # 1
        if self.prefetch and not self._in_pass:
            self._post_neighbour(unit, +1)

    def _after_forward(self, unit: Unit, _module: nn.Module, _inputs: Any, output: Any) -> None:
        for tensor in tree_leaves(output):
            if isinstance(tensor, Tensor) and tensor.requires_grad:
                tensor.register_hook(partial(self._before_backward, unit))  # type: ignore[no-untyped-call]
        stays = torch.is_grad_enabled() and (unit is self.own or not self.reshard_after_forward)
        if not stays and not unit.in_backward:  # in the backward pass this is a recomputation: still needed
            unit.free()  # 2

    def _before_backward(self, unit: Unit, _: Tensor) -> None:
        if not self._in_pass:
            self._in_pass = True
            Variable._execution_engine.queue_callback(self._finish)
        unit.in_backward = True
        unit.gather()  # 3
        if self.prefetch:
            self._post_neighbour(unit, -1)

    def _arrived(self, unit: Unit, index: int, p: nn.Parameter) -> None:
        """Autograd's hook, called when ``p.grad`` is complete for this backward pass."""
        unit.take(p, index)
        if not unit.missing:
            self._reduce(unit)

    def _reduce(self, unit: Unit) -> None:
        unit.free()  # 4
        self._land()
        gradient = torch.zeros_like(unit.whole) if unit.gradient is None else unit.gradient
        unit.gradient, unit.places = gradient, []
        unit.in_backward, unit.missing = False, set(unit.parameters)
        shard = gradient.new_empty(len(unit.shard))
        transfer = dist.reduce_scatter_tensor(shard, gradient, group=unit.group, async_op=True)
        self._reducing = unit, shard, transfer
        if not self.prefetch:
            self._land()

    def _land(self) -> None:
        """Wait for the reduce-scatter in flight, if any."""
        if self._reducing is None:
            return
        (unit, shard, transfer), self._reducing = self._reducing, None
        transfer.wait()
        unit.gradient = None
        self._landed(unit, shard.to(unit.shard.dtype))

    def _landed(self, unit: Unit, total: Tensor) -> None:
        """``total`` (n,) is the sum of the group's gradients."""
        mean = total.div_(unit.K)
        unit.shard.grad = mean if unit.shard.grad is None else unit.shard.grad.add_(mean)  # 5

    def _finish(self) -> None:
        """Autograd's callback at the end of the backward pass. Parameters without a gradient get one of zeros."""
        for unit in reversed(self.units):
            if unit.in_backward and unit.trained:
                self._reduce(unit)
            unit.in_backward = False
            unit.free()
        self._land()
        self._in_pass = False

    def _post_neighbour(self, unit: Unit, step: int) -> None:
        place = self.units.index(unit) + step
        if 0 <= place < len(self.units):
            self.units[place].post()

    # ---- units, and what is whole again

    def _add(self, module: nn.Module, prefix: str) -> Unit | None:
        """Make a unit of all parameters that ``module`` still has, which become plain attributes of their modules."""
        names = {prefix + name: p for name, p in module.named_parameters()}
        check_not_shared(names, self.units)
        if not names:
            return None
        for owner in module.modules():
            for name in [name for name, p in owner._parameters.items() if p is not None]:
                owner.__dict__[name] = owner._parameters.pop(name)
        unit = Unit(names, self.group, self.precision)
        self.units.insert(0 if prefix == "" else len(self.units), unit)
        module.register_forward_pre_hook(partial(self._before_forward, unit))
        module.register_forward_hook(partial(self._after_forward, unit))
        for index, p in enumerate(unit.parameters if unit.trained else ()):
            p.register_post_accumulate_grad_hook(partial(self._arrived, unit, index))  # type: ignore[no-untyped-call]
        return unit

    def _cast(self, tensor: Tensor) -> Tensor:
        return tensor.to(self.precision) if tensor.is_floating_point() else tensor

    def full_state(self) -> dict[str, Tensor]:
        """All whole parameters, in the master's precision: an all-gather for each unit. All ranks must call it."""
        return dict(self._unflattened([unit.shard.detach() for unit in self.units]))

    def full_gradients(self) -> dict[str, Tensor]:
        """All whole gradients, likewise; zeros where a parameter has none."""
        return dict(self._unflattened([_gradient(unit.shard) for unit in self.units]))

    def _unflattened(self, shards: Sequence[Tensor]) -> Iterator[tuple[str, Tensor]]:
        for unit, shard in zip(self.units, shards, strict=True):
            yield from zip(unit.names, unit.views(gathered(shard, unit.N, self.group)), strict=True)


def _gradient(shard: nn.Parameter) -> Tensor:
    return torch.zeros_like(shard) if shard.grad is None else shard.grad


def check_part(module: nn.Module, names: Mapping[nn.Module, str]) -> str:
    """The prefix of its parameters' names. UsageError for a module that is no part of the model, or all of it."""
    if not names.get(module):
        raise UsageError(
            f"A {type(module).__name__} in `units` is no part of the model.",
            "Name modules of the model itself: units=model.blocks. What is in none of them needs no entry.",
        )
    return names[module]


def check_not_shared(names: Mapping[str, nn.Parameter], units: Iterable[Unit]) -> None:
    taken = {p for unit in units for p in unit.parameters}
    for name, p in names.items():
        if p in taken:
            raise UsageError(
                f"The parameter {name} is shared with another unit.",
                "Leave both modules out of `units`: the model's own unit keeps what they share.",
            )


def check_alike(names: Mapping[str, nn.Parameter]) -> bool:
    """Whether a unit of these parameters is trained. UsageError if they cannot be one vector of numbers."""
    first, kinds = next(iter(names)), {(p.requires_grad, p.dtype, p.device) for p in names.values()}
    if len(kinds) > 1:
        raise UsageError(
            f"The unit of {first} mixes frozen and trained parameters, dtypes, or devices.",
            "One flat vector is of one kind: make what differs a unit of its own.",
        )
    if names[first].is_meta:
        raise UsageError(
            f"The unit of {first} is on the meta device: it has no numbers.",
            "Give a generator of modules with numbers: it builds each of them when the one before is cut up.",
        )
    return names[first].requires_grad
