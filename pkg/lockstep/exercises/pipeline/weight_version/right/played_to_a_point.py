"""Play the beginning; later on both passes move with the minibatch."""


def weight_version(stage, stages, minibatch, which, rule):
    depth = stages if rule == "vertical sync" else stages - stage
    seen = 0 if minibatch < depth else minibatch - depth + 1
    return {"F": seen, "B": minibatch if rule == "none" else seen}[which]
