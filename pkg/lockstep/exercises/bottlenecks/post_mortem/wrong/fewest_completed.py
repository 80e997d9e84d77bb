"""The learner thought: who is behind has done the least."""

MISCONCEPTION = "fewest-completed"
TELL = "You name the rank that has completed the fewest operations. Ranks do differently many, and keep differently many: look at what they wait in."


def post_mortem(dumps):
    done = [sum(e["state"] == "completed" for e in dump["entries"]) if dump else -1 for dump in dumps]
    rank = done.index(min(done))
    lines = [dump["entries"][-1]["frames"][0]["filename"] for dump in dumps if dump and dump["entries"]]
    return rank, max(lines, key=lines.count), "absent"
