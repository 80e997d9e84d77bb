"""The learner thought: cut in two halves of equal cost, and again."""

MISCONCEPTION = "halves"
TELL = "You cut the dearest part in two, again and again. The first cut stays, even if p parts need another one."


def partition_layers(costs, stages):
    parts = [list(costs)]
    while len(parts) < stages:
        at = max((n for n in range(len(parts)) if len(parts[n]) > 1), key=lambda n: sum(parts[n]))
        part = parts[at]
        cut = min(range(1, len(part)), key=lambda k: max(sum(part[:k]), sum(part[k:])))
        parts[at : at + 1] = [part[:cut], part[cut:]]
    return [len(part) for part in parts]
