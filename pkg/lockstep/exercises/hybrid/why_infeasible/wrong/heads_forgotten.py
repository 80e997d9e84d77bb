"""The learner thought: tp·pp·dp is the number of GPUs, so it divides."""

MISCONCEPTION = "heads-forgotten"
TELL = "tp has to divide the heads, and pp the layers, also where the product is right."


def why_infeasible(model, cluster, plan):
    l, h, a, s = model["layers"], model["hidden"], model["heads"], model["seq"]
    tp, pp, dp, b, zero = plan["tp"], plan["pp"], plan["dp"], plan["micro_batch"], plan["zero"]
    if tp * pp * dp != cluster["gpus"]:
        return "divisibility"
    if model["batch"] % (dp * b):
        return "batch"
    if cluster["node"] % tp:
        return "link"
    n = model["parameters"] / (tp * pp)
    weights = 2 * n / (dp if zero > 2 else 1)
    gradients = 4 * n / (dp if zero > 1 else 1)
    optimizer = 12 * n / (dp if zero > 0 else 1)
    A = s * b * h * (10 + 24 / tp + 5 * a * s / (h * tp))
    m = model["batch"] // (dp * b)
    layers = min(pp, m) * (l // pp)
    activations = layers * A
    if plan["recompute"]:
        activations = layers * 2 * s * b * h + A
    kinds = [weights, gradients, optimizer, activations]
    if sum(kinds) <= cluster["memory"]:
        return "runs"
    return ("weights", "gradients", "optimizer", "activations")[kinds.index(max(kinds))]
