"""A learner's elastic training on real workers, while some are killed and one is added: what they did, and what the
remaining parameters show.

Which rows a worker trains on is seen before the forward pass: that is also where it is killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.with_horovod.elastic import elastic_job
from lockstep.with_horovod.elastic_worker import Script, Worker

ROWS, FEATURES, RATE, MOMENTUM = 12, 3, 0.1, 0.9
LIMIT = 10.0  # seconds for a job, which takes about one
BUSY = 4  # processes that want a core, for each that there is: nobody can say then what hangs
CLOSE = 1e-6
# Of being wrong: of the optimizer's state, of the model's, of what a commit keeps, and of the gradients.
WAYS = ("momentum lost", "momentum ahead", "model ahead", "early commits", "alone", "summed", "scaled")

Batches = list[tuple[Tensor, Tensor]]
Event = dict[str, Any]
Moves = Sequence[Event]
_hung: list[str] = []  # in this process: what comes after a job that hung is not tried


@dataclass(frozen=True)
class Task:
    """Training for ``steps`` steps, with a commit every ``every``; ``kill`` and ``add`` as of ``Script``."""

    seed: int
    steps: int
    every: int
    workers: int
    kill: dict[int, int]
    add: int | None = None

    def network(self, worker: int) -> nn.Module:
        """Of that worker when it begins."""
        torch.manual_seed(self.seed + worker)
        return nn.Sequential(nn.Linear(FEATURES, 4), nn.Tanh(), nn.Linear(4, 1)).double()

    def batches(self) -> Batches:
        drawn = torch.Generator().manual_seed(self.seed)
        shapes = [(ROWS, FEATURES), (ROWS, 1)] * self.steps
        parts = [torch.randn(shape, generator=drawn, dtype=torch.float64) for shape in shapes]
        return list(zip(parts[::2], parts[1::2], strict=True))

    @property
    def survivors(self) -> list[int]:
        """Who should return a model."""
        return [w for w in range(self.workers + (self.add is not None)) if w not in self.kill]


def sgd(model: nn.Module) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)


def flat(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def digest(model: nn.Module) -> float:
    """One number that differs between different models."""
    return sum(p.detach().double().sum().item() for p in model.parameters())


# ---- in the learner's process


def observed(fn: Callable[..., Any], task: Task) -> dict[str, Any]:
    """The events of an elastic job around ``fn``, and the parameters of each model that it returned, as plain data.
    Raises RankRaised when it raises."""
    if _hung:
        return {"skipped": _hung[0], "busy": False}
    account = elastic_job(lambda worker: trained(fn, task, worker), Script(task.workers, task.kill, task.add), LIMIT)
    _hung.extend(account.overdue.values())
    events = [{k: v for k, v in e.items() if k != "seconds"} for e in account.events]
    values = {str(worker): value for worker, value in account.values.items()}
    overdue = [[worker, where] for worker, where in sorted(account.overdue.items())]
    busy = bool(overdue) and os.getloadavg()[0] > BUSY * (os.cpu_count() or 1)
    return {"events": events, "values": values, "overdue": overdue, "busy": busy}


def trained(fn: Callable[..., Any], task: Task, worker: Worker) -> Tensor | str:
    """On a worker: the parameters of what ``fn`` returns, or what else it is."""
    import horovod.torch as hvd

    model, batches = task.network(worker.number), task.batches()
    known = {row.numpy().tobytes(): (step, i) for step, (x, _) in enumerate(batches) for i, row in enumerate(x)}

    def see(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        x = inputs[0] if inputs else None
        if not torch.is_grad_enabled() or not isinstance(x, Tensor) or x.shape[1:] != (FEATURES,):
            return
        places = [known.get(row.detach().numpy().tobytes(), (-1, -1)) for row in x]
        step = places[0][0] if places else -1
        rows = [i for _, i in places]
        worker.note("step", step=step, rows=rows, rank=hvd.rank(), size=hvd.size(), model=digest(module))
        worker.at(step)

    model.register_forward_pre_hook(see)
    given = [*batches]
    returned = fn(model, sgd(model), batches, task.every)
    same = all(map(torch.equal, chain(*given), chain(*task.batches())))
    if not same or [*map(id, batches)] != [*map(id, given)]:
        worker.note("changed")
    return flat(returned) if isinstance(returned, nn.Module) else type(returned).__name__


# ---- for the judge


def compared(found: dict[str, Any], task: Task) -> dict[str, Any]:
    """What of it is not as it should be. ``history``: the steps that are in the model of a worker that was there from
    the beginning to the end, by what it did, if its state brought back the model, and as often."""
    if "skipped" in found:
        return found
    events, old = found["events"], min(w for w in task.survivors if w < task.workers)
    mine = [e for e in events if e["worker"] == old]
    values = {int(w): v for w, v in found["values"].items()}
    models = {w: v for w, v in values.items() if isinstance(v, Tensor)}
    history, _ = replay(task, mine)
    every = range(task.steps)
    held = models.get(old)
    near = {w: bool(torch.allclose(v, held, rtol=0, atol=CLOSE)) for w, v in models.items() if held is not None}
    right = held is not None and close(held, replay(task, [{"what": "step", "step": s} for s in every])[1])
    return {
        "skipped": False,
        "busy": found["busy"],
        "overdue": "; ".join(f"worker {worker} stood at {where}" for worker, where in found["overdue"]),
        "other": next(((w, v) for w, v in values.items() if not isinstance(v, Tensor)), None),
        "absent": [w for w in task.survivors if w not in values],
        "unmet": next((w for w in task.survivors if not any(e["worker"] == w for e in events)), None),
        "strayed": strayed(events, old, task),
        "commits": sum(e["what"] == "commit" for e in mine),
        "wanted": task.steps // task.every,
        "untimely": next((made for made in committed(mine) if made % task.every and made != task.steps), None),
        "every": task.every,
        "changed": next((e["worker"] for e in events if e["what"] == "changed"), None),
        "whole": next((e for e in events if e["what"] == "step" and whole(e) and not alone(events, e["worker"])), None),
        "stale": next((s for e in events if e["what"] == "step" and (s := misread(e))), None),
        "rows": next((e for e in events if e["what"] == "step" and share(e) is None), None),
        "own_start": own_start(events, task),
        "caught": gone_back(mine) if any(e["what"] == "killed" for e in events) else None,
        "again": any(a["what"] == "reset" and b.get("step") == 0 for a, b in pairwise(mine)) and history.count(0) > 1,
        "twice": next((s for s in history if history.count(s) > 1 and old in models), None),
        "missing": next((s for s in every if s not in history and old in values), None),
        "apart": next((w for w, same in near.items() if not same), None),
        "way": next((w for w in WAYS if held is not None and any(close(held, m) for m in ways(task, mine, w))), ""),
        "right": right,
        "old": old,
    }


def committed(mine: Moves) -> list[int]:
    """After how many steps each commit was made, those before the first step left out."""
    made, found = 0, []
    for event in mine:
        if event["what"] == "step":
            made = event["step"] + 1
        elif event["what"] == "commit" and made:
            found.append(made)
    return found


def strayed(events: Moves, old: int, task: Task) -> tuple[int, int, int] | None:
    """The worker that was added, the step with which it began, and the one with which the others went on."""
    new = [e["step"] for e in events if e["worker"] == task.workers and e["what"] == "step"]
    at = max((i for i, e in enumerate(events) if e["worker"] == old and e["what"] == "reset"), default=0)
    others = [e["step"] for e in events[at:] if e["worker"] == old and e["what"] == "step"]
    return (task.workers, new[0], others[0]) if new and others and new[0] != others[0] else None


def own_start(events: Moves, task: Task) -> int | None:
    """A worker whose first step began with the weights of its own model."""
    firsts = {e["worker"]: e.get("model") for e in reversed(events) if e["what"] == "step"}
    own = (w for w, sum_of in firsts.items() if w and sum_of == digest(task.network(w)))
    return min(own, default=None)


def gone_back(mine: Moves) -> int | None:
    """The first step to which a worker came again, though Horovod had neither failed there nor begun anew."""
    moves = [e for e in mine if e["what"] in ("step", "failed", "updated", "reset")]
    pairs = [(a["step"], b["step"]) for a, b in pairwise(moves) if a["what"] == b["what"] == "step"]
    return next((after for before, after in pairs if after <= before), None)


def replay(task: Task, moves: Moves, way: str = "", undone: int = 1) -> tuple[list[int], Tensor]:
    """The steps in a model that went through these moves, and its parameters: at a commit model and optimizer are kept,
    and brought back at a failure. Of being wrong in some ``way``: with "momentum ahead" the optimizer's state is not
    brought back, with "model ahead" the model; ``undone`` of the steps that were begun then were not made. With "early
    commits" they keep what there was before the last step."""
    model, batches = task.network(0), task.batches()
    optimizer = sgd(model)
    history, first = list[int](), 0
    states = [deepcopy((history, model.state_dict(), optimizer.state_dict()))]
    kept = states[0]
    for move in moves:
        if move["what"] == "step" and 0 <= move["step"] < task.steps:
            x, y = batches[move["step"]]
            rows = move["rows"] if way == "alone" else slice(None)
            optimizer.zero_grad()
            loss = F.mse_loss(model(x[rows]), y[rows])
            first = first or move.get("size", 1)
            (loss * {"summed": move.get("size", 1), "scaled": first}.get(way, 1)).backward()
            optimizer.step()
            history.append(move["step"])
            states.append(deepcopy((history, model.state_dict(), optimizer.state_dict())))
        elif move["what"] == "commit":
            kept = states[-2 if way == "early commits" and len(states) > 1 else -1]
        elif move["what"] == "failed":
            history, ahead = list(kept[0]), states[max(0, len(states) - 1 - undone)]
            model.load_state_dict((ahead if way == "model ahead" else kept)[1])
            optimizer.load_state_dict(deepcopy((ahead if way == "momentum ahead" else kept)[2]))
        if way == "momentum lost" and move["what"] in ("failed", "updated"):
            optimizer = sgd(model)
    return history, flat(model)


def ways(task: Task, moves: Moves, way: str) -> list[Tensor]:
    """The parameters that come of being wrong in that way."""
    return [replay(task, moves, way, undone)[1] for undone in ((1, 0) if "ahead" in way else (1,))]


def close(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool(torch.allclose(a, b, rtol=0, atol=CLOSE))


def share(event: Event) -> tuple[int, int] | None:
    """As whose share the rows of a step can be read: (r, K), if they are rank r's of K, in any order."""
    rows = sorted(event["rows"])
    found = ((r, K) for K in (event["size"], 1, 2, 3, 4) for r in range(K) if rows == list(range(r, ROWS, K)))
    return next(found, None)


def whole(event: Event) -> bool:
    """Whether a step took all rows, where there were other ranks."""
    return event["size"] > 1 and share(event) == (0, 1)


def alone(events: Moves, worker: int) -> bool:
    """Whether it was the only rank in any step: then all rows may be what it has kept from that."""
    return any(e["what"] == "step" and e["worker"] == worker and e["size"] == 1 for e in events)


def misread(event: Event) -> tuple[int, ...] | None:
    """Of a step on another rank's rows: the worker, the step, whose rows, and which rank it was."""
    found = share(event)
    if found in (None, (event["rank"], event["size"])):
        return None
    return (event["worker"], event["step"], *found, event["rank"], event["size"])
