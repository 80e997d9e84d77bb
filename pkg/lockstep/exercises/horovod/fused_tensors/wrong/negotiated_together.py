"""The learner thought: what is negotiated at the same time is reduced together."""

MISCONCEPTION = "joined"
TELL = "These tensors were negotiated at the same time. Horovod may reduce them one after the other all the same: see when GLOO_ALLREDUCE is open, not NEGOTIATE_ALLREDUCE."


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    negotiating, group, found = set(), [], []
    for event in timeline:
        if event["ph"] == "B" and event["name"] == "NEGOTIATE_ALLREDUCE":
            negotiating.add(event["pid"])
            group.append(names[event["pid"]])
        elif event["ph"] == "E" and event["pid"] in negotiating:
            negotiating.discard(event["pid"])
            if not negotiating:
                found.append(sorted(group))
                group = []
    return found
