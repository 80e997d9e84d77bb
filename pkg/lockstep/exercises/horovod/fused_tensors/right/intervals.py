"""Spans of all tensors as intervals of places in the list, whose order is that of time: the next operation begins when
all of the last one have ended."""

import bisect


def fused_tensors(timeline):
    names = {e["pid"]: e["args"]["name"] for e in timeline if "name" in e.get("args", {})}
    intervals = []
    for pid, name in names.items():
        stack = []
        for at, event in enumerate(timeline):
            if event.get("pid") == pid and event["ph"] == "B":
                stack.append((event["name"], at))
            elif event.get("pid") == pid and event["ph"] == "E":
                phase, begun = stack.pop()
                if phase == "GLOO_ALLREDUCE":
                    bisect.insort(intervals, (begun, at, name))
    operations, until = [], -1
    for begin, end, name in intervals:
        if begin >= until:
            operations.append(set())
        operations[-1].add(name)
        until = max(until, end)
    return tuple(tuple(sorted(names)) for names in operations)
