"""The learner thought: tensors of one operation begin at the same microsecond."""

MISCONCEPTION = "parted"
TELL = "The tensors of one operation begin and end one after the other, some microseconds apart. Those whose all-reduce is open at the same time belong together."


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    groups = {}
    for event in timeline:
        if event["ph"] == "B" and event["name"] == "ALLREDUCE":
            groups.setdefault(event["ts"], []).append(names[event["pid"]])
    return [sorted(groups[time]) for time in sorted(groups)]
