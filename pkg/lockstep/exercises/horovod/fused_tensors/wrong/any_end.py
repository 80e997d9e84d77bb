"""The learner thought: the next end on a row is that of its all-reduce."""

MISCONCEPTION = "parted"


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    running, found = set(), []
    for event in timeline:
        if event["ph"] == "B" and event["name"] == "GLOO_ALLREDUCE":
            if not running:
                found.append([])
            running.add(event["pid"])
            found[-1].append(names[event["pid"]])
        elif event["ph"] == "E":
            running.discard(event["pid"])
    return [sorted(group) for group in found]
