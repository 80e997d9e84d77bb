"""The learner thought: each operation copies into the fusion buffer first."""

MISCONCEPTION = "loses-single-tensors"
ALSO = ["other-operations"]


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    copied, found = {}, []
    for event in timeline:
        if event["ph"] == "B" and event["name"] == "MEMCPY_IN_FUSION_BUFFER":
            copied[event["pid"]] = names[event["pid"]]
        elif event["ph"] == "B" and event["name"] == "GLOO_ALLREDUCE" and copied:
            found.append(sorted(copied.values()))
            copied = {}
    return found
