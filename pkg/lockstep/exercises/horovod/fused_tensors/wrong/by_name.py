"""The learner thought: sorted means the whole list, too."""

MISCONCEPTION = "wrong-order"


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    rows, running, found = {}, set(), []
    for event in timeline:
        if event["ph"] == "B":
            rows.setdefault(event["pid"], []).append(event["name"])
            if event["name"] != "GLOO_ALLREDUCE":
                continue
            if not running:
                found.append([])
            running.add(event["pid"])
            found[-1].append(names[event["pid"]])
        elif event["ph"] == "E" and rows[event["pid"]].pop() == "GLOO_ALLREDUCE":
            running.discard(event["pid"])
    return sorted(sorted(group) for group in found)
