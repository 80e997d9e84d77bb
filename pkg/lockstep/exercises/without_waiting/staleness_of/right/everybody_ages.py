"""Each gradient that comes makes all others that are under way older by one."""


def staleness_of(trace):
    age, numbers = {}, {}
    for event in trace:
        if event.rank != 0 or event.kind not in ("send", "recv"):
            continue
        if event.kind == "send":
            age[event.peer] = 0
        else:
            old = age[event.peer]
            numbers[old] = numbers.get(old, 0) + 1
            age = {worker: a + 1 for worker, a in age.items()}
    return numbers
