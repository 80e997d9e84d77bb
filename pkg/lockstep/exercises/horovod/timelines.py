"""Recorded timelines of Horovod's, changed by seed, and what an answer about one of them says and leaves out."""

import copy
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, pairwise
from random import Random
from typing import Any

from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.experiments.horovod.recorded import recording
from lockstep.with_horovod.timeline import Operation, Timeline, names, operations, spans

PHASE = "GLOO_ALLREDUCE"
WITHIN = "WAIT_FOR_DATA"
ABSENT = dict.fromkeys(
    ("type", "number", "foreign", "other", "phase", "twice", "surplus", "alone", "once", "missing", "times", "joined",
     "brief", "parted", "within", "unlike", "late", "early", "unsorted", "begins", "ends"),
)  # fmt: skip


@cache
def _all() -> dict[str, Timeline]:
    found: dict[str, Timeline] = recording("timelines").value
    return found


def recorded(name: str) -> Timeline:
    return copy.deepcopy(_all()[name])


def varied(timeline: Timeline, dice: Random) -> Timeline:
    """The same with other numbers of rows, another time at the beginning, and names that changed places among the
    tensors of a kind of operation."""
    row_of = names(timeline)
    rows = dict(zip(row_of, dice.sample(list(row_of), len(row_of)), strict=True))
    name_of = dict(zip(row_of.values(), row_of.values(), strict=True))
    for kind in sorted({name.partition(".")[0] for name in name_of}):
        alike = [name for name in name_of if name.partition(".")[0] == kind]
        name_of.update(zip(alike, dice.sample(alike, len(alike)), strict=True))
    later = dice.randrange(1_000_000)
    for event in timeline:
        if "ts" in event:
            event["ts"] += later
        if event.get("name") == "process_name" and event["pid"]:
            event["args"]["name"] = name_of[event["args"]["name"]]
        if event.get("pid"):
            event["pid"] = rows[event["pid"]]
    return timeline


def moments(timeline: Timeline) -> list[list[int]]:
    """Of each all-reduce, in order of time, the places of the first event and of the last one."""
    stacks, under_way, found = defaultdict[int, list[str]](list), 0, list[list[int]]()
    for at, event in enumerate(timeline):
        if event["ph"] == "B":
            stacks[event["pid"]].append(event["name"])
            if event["name"] == PHASE:
                found += [] if under_way else [[at, at]]
                under_way += 1
        elif event["ph"] == "E" and stacks[event["pid"]] and stacks[event["pid"]].pop() == PHASE:
            under_way, found[-1][1] = under_way - 1, at
    return found


def touching(timeline: Timeline, dice: Random) -> Timeline:
    """The same, but that an operation begins in the very microsecond in which the one before it has ended: there was
    one between them in some that Horovod wrote. The order of events tells them apart."""
    if borders := list(pairwise(moments(timeline))):
        (_, end), (begin, _) = dice.choice(borders)
        gap = timeline[begin]["ts"] - timeline[end]["ts"]
        for event in timeline[end:]:
            if "ts" in event:
                event["ts"] = max(timeline[end]["ts"], event["ts"] - gap)
    return timeline


def holding(timeline: Timeline) -> Timeline:
    """The same, but that on each row something else begins and ends within GLOO_ALLREDUCE, before the next row begins
    it: the first end on a row is not that of its all-reduce."""
    found: Timeline = []
    for event in timeline:
        found.append(event)
        if event["ph"] == "B" and event["name"] == PHASE:
            found += [{**event, "name": WITHIN}, {"ph": "E", "ts": event["ts"], "pid": event["pid"]}]
    return found


def at_once(timeline: Timeline) -> Timeline:
    """The same, but that each all-reduce ends in the microsecond in which it begins, as some of a single rank do."""
    for begin, end in moments(timeline):
        for event in timeline[begin : end + 1]:
            event["ts"] = timeline[begin]["ts"]
    return timeline


def evidence(answer: Any, timeline: Timeline) -> dict[str, Any]:
    """What is to be said of an answer; None where there is nothing. Later facts are those of an answer in which the
    earlier ones are in order."""
    found = _of_form(answer, timeline) or _of_names(answer, timeline) or _of_lists(answer, timeline) or {}
    return ABSENT | found


def _of_form(answer: Any, timeline: Timeline) -> dict[str, Any] | None:
    if not isinstance(answer, list):
        return {"type": told(answer)}
    for entry in answer:
        if not isinstance(entry, list):
            return {"type": f"a list in which {told(entry)} stands"}
        for one in entry:
            if isinstance(one, int) and not isinstance(one, bool):
                return {"number": one}
            if not isinstance(one, str):
                return {"type": f"a list of lists in which {told(one)} stands"}
            if one not in names(timeline).values():
                return {"foreign": one[:60]}
    return None


def _of_names(answer: list[list[str]], timeline: Timeline) -> dict[str, Any] | None:
    """Which tensors it names too often, and which not often enough."""
    reduced = all_reduces(timeline)
    wanted = Counter(name for o in reduced for name in o.tensors)
    given = Counter(name for entry in answer for name in entry)
    for name in given:
        if name not in wanted:
            return {"other": name, "phase": next(o.kind for o in operations(timeline) if name in o.tensors)}
    if twice := [name for entry in answer for name, n in Counter(entry).items() if n > 1]:
        return {"twice": twice[0]}
    for name in wanted:
        if given[name] != wanted[name]:
            times = counted(given[name], "list"), counted(wanted[name], "time")
            return {"times": times, _miscounted(name, given, wanted, reduced, timeline): name}
    return None


def _miscounted(
    name: str, given: Counter[str], wanted: Counter[str], reduced: list[Operation], timeline: Timeline
) -> str:
    if given[name] > wanted[name]:
        return "surplus"
    if any((s.tensor, s.phase) == (name, PHASE) and s.begin == s.end for s in spans(timeline)):
        return "brief"
    fused = Counter(name for o in reduced if len(o.tensors) > 1 for name in o.tensors)
    if given == fused:
        return "alone"
    return "once" if all(given[one] == 1 for one in wanted) else "missing"


def _of_lists(answer: list[list[str]], timeline: Timeline) -> dict[str, Any] | None:
    """Which of its lists are no operations, where each name is listed as often as it was carried."""
    reduced = all_reduces(timeline)
    right = [o.tensors for o in reduced]
    if answer == right:
        return None
    lists = [sorted(entry) for entry in answer]
    for entry in lists:
        for pair in combinations(entry, 2):
            if not any(set(pair) <= set(tensors) for tensors in right):
                return _one_after_the_other(pair, timeline)
    for tensors in right:
        for pair in combinations(tensors, 2):
            if not any(set(pair) <= set(entry) for entry in lists):
                return {"parted": pair, **_together(pair, reduced, timeline)}
    if sorted(lists) != sorted(right):
        unlike = next(entry for entry in lists if lists.count(entry) != right.count(entry))
        return {"unlike": unlike, "times": [counted(found.count(unlike), "time") for found in (lists, right)]}
    if lists != right:
        n = next(i for i, (entry, want) in enumerate(zip(lists, right, strict=True)) if entry != want)
        return {"late": right[n], "early": lists[n]}
    return {"unsorted": next(entry for entry, want in zip(answer, right, strict=True) if entry != want)}


def all_reduces(timeline: Timeline) -> list[Operation]:
    return [o for o in operations(timeline) if o.kind == "ALLREDUCE"]


def _one_after_the_other(pair: tuple[str, str], timeline: Timeline) -> dict[str, Any]:
    """The first all-reduce of each, in order of time."""
    firsts = [next(s for s in spans(timeline) if (s.tensor, s.phase) == (name, PHASE)) for name in pair]
    early, late = sorted(firsts, key=lambda span: span.begin)
    return {"joined": (early.tensor, late.tensor), "ends": _micro(early.end), "begins": _micro(late.begin)}


def _together(pair: tuple[str, str], reduced: list[Operation], timeline: Timeline) -> dict[str, Any]:
    """When both were under way."""
    both = next(o for o in reduced if set(pair) <= set(o.tensors))
    found = [s for s in spans(timeline) if s.phase == PHASE and s.tensor in pair and both.begin <= s.begin <= both.end]
    within = next((s.phase for s in spans(timeline) if s.phase == WITHIN and s.tensor in pair), None)
    return {"begins": _micro(max(s.begin for s in found)), "ends": _micro(min(s.end for s in found)), "within": within}


def _micro(seconds: float) -> str:
    return f"{round(seconds * 1e6):,}"
