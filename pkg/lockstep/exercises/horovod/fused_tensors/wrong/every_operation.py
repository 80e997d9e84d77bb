"""The learner thought: what Horovod carries out is an all-reduce."""

MISCONCEPTION = "other-operations"


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    running, found = {}, []
    for event in timeline:
        if event["ph"] == "B" and not event["name"].startswith("NEGOTIATE"):
            if not running:
                found.append([])
            if not running.get(event["pid"]):
                found[-1].append(names[event["pid"]])
            running[event["pid"]] = running.get(event["pid"], 0) + 1
        elif event["ph"] == "E" and event["pid"] in running:
            running[event["pid"]] -= 1
            if not running[event["pid"]]:
                del running[event["pid"]]
    return [sorted(group) for group in found]
