"""The learner thought: pid is the tensor."""

MISCONCEPTION = "row-numbers"


def fused_tensors(timeline):
    rows, running, found = {}, set(), []
    for event in timeline:
        if event["ph"] == "B":
            rows.setdefault(event["pid"], []).append(event["name"])
            if event["name"] != "GLOO_ALLREDUCE":
                continue
            if not running:
                found.append([])
            running.add(event["pid"])
            found[-1].append(event["pid"])
        elif event["ph"] == "E" and rows[event["pid"]].pop() == "GLOO_ALLREDUCE":
            running.discard(event["pid"])
    return [sorted(group) for group in found]
