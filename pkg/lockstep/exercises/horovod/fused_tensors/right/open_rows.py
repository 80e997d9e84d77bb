"""Horovod's rows one after the other: an operation begins where no row is open, and lasts until none is."""


def fused_tensors(timeline):
    names, open_spans, operations, running = {}, {}, [], 0
    for event in timeline:
        if event["ph"] == "M" and "name" in event["args"]:
            names[event["pid"]] = event["args"]["name"]
            open_spans[event["pid"]] = []
        elif event["ph"] == "B":
            open_spans[event["pid"]].append(event["name"])
            if event["name"] == "GLOO_ALLREDUCE":
                if running == 0:
                    operations.append([])
                operations[-1].append(names[event["pid"]])
                running += 1
        elif event["ph"] == "E" and open_spans[event["pid"]].pop() == "GLOO_ALLREDUCE":
            running -= 1
    return [sorted(tensors) for tensors in operations]
