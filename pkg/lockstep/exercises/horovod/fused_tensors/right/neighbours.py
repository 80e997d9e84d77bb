"""Begins of ALLREDUCE that follow each other with no end between them are one operation."""


def fused_tensors(timeline):
    names = {e["pid"]: e["args"].get("name") for e in timeline if e.get("name") == "process_name"}
    found, ended = [], True
    for event in timeline:
        if event["ph"] == "B" and event["name"] == "ALLREDUCE":
            if ended:
                found.append([])
                ended = False
            found[-1].append(names[event["pid"]])
        elif event["ph"] == "E":
            ended = True
    return [sorted(tensors) for tensors in found]
