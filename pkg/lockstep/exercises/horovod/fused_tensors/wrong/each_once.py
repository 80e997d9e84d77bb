"""The learner thought: a tensor has one place in the timeline; a dict from its name to its time holds it."""

MISCONCEPTION = "each-tensor-once"
ALSO = ["lost"]


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    begins, ends = {}, {}
    for event in timeline:
        if event["ph"] == "B" and event["name"] == "GLOO_ALLREDUCE":
            begins[names[event["pid"]]] = event["ts"]
        elif event["ph"] == "E":
            ends[names[event["pid"]]] = event["ts"]
    found, until = [], -1
    for name in sorted(begins, key=begins.get):
        if begins[name] >= until:
            found.append([])
        found[-1].append(name)
        until = max(until, ends[name])
    return [sorted(group) for group in found]
