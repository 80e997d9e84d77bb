"""The learner thought: what follows within a millisecond is the same operation."""

MISCONCEPTION = "joined"
ALSO = ["twice-in-one"]
TELL = "Two operations may follow each other within microseconds: no distance in time tells them apart. An operation is over when the all-reduce of all its tensors has ended."


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    rows, found, last = {}, [], -10_000
    for event in timeline:
        if event["ph"] == "B":
            rows.setdefault(event["pid"], []).append(event["name"])
            if event["name"] == "GLOO_ALLREDUCE":
                if event["ts"] - last > 1000:
                    found.append([])
                found[-1].append(names[event["pid"]])
                last = event["ts"]
        elif event["ph"] == "E" and rows[event["pid"]].pop() == "GLOO_ALLREDUCE":
            last = event["ts"]
    return [sorted(group) for group in found]
