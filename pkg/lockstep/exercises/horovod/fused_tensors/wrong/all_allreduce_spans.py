"""The learner thought: everything with ALLREDUCE in its name is an all-reduce."""

MISCONCEPTION = "counted-twice"


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    running, found = {}, []
    for event in timeline:
        if event["ph"] == "B":
            if "ALLREDUCE" in event["name"]:
                if not any(running.values()):
                    found.append(set())
                found[-1].add(names[event["pid"]])
            running.setdefault(event["pid"], []).append(event["name"])
        elif event["ph"] == "E":
            running[event["pid"]].pop()
    return [sorted(group) for group in found]
