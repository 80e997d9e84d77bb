"""The learner thought: pid is the tensor."""

MISCONCEPTION = "row-numbers"


def fused_tensors(timeline):
    running, found = set(), []
    for event in timeline:
        if event["ph"] == "B" and event["name"] == "GLOO_ALLREDUCE":
            if not running:
                found.append([])
            running.add(event["pid"])
            found[-1].append(event["pid"])
        elif event["ph"] == "E":
            running.discard(event["pid"])
    return [sorted(group) for group in found]
