"""Spans of all tensors as intervals, in order of time: the next operation begins when all of the last one have ended."""

import bisect


def fused_tensors(timeline):
    names = {e["pid"]: e["args"]["name"] for e in timeline if "name" in e.get("args", {})}
    intervals = []
    for pid, name in names.items():
        stack = []
        for event in timeline:
            if event.get("pid") == pid and event["ph"] == "B":
                stack.append(event)
            elif event.get("pid") == pid and event["ph"] == "E":
                begun = stack.pop()
                if begun["name"] == "GLOO_ALLREDUCE":
                    bisect.insort(intervals, (begun["ts"], event["ts"], name))
    operations, until = [], -1
    for begin, end, name in intervals:
        if begin >= until:
            operations.append(set())
        operations[-1].add(name)
        until = max(until, end)
    return tuple(tuple(sorted(names)) for names in operations)
