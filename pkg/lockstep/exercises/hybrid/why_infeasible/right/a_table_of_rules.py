"""Rules with names, and the scores by themselves."""


def why_infeasible(model, cluster, plan):
    tp, pp, dp, b = (plan[k] for k in ("tp", "pp", "dp", "micro_batch"))
    rules = [
        ("divisibility", cluster["gpus"] == tp * pp * dp and model["heads"] % tp == 0 and model["layers"] % pp == 0),
        ("batch", model["batch"] % dp == 0 and model["batch"] // dp % b == 0),
        ("link", cluster["node"] % tp == 0),
    ]
    for name, fine in rules:
        if not fine:
            return name
    stage = {"weights": 3, "gradients": 2, "optimizer": 1}
    each = {"weights": 2, "gradients": 4, "optimizer": 12}
    need = {k: each[k] * model["parameters"] / (tp * pp) for k in each}
    for k in need:
        if plan["zero"] >= stage[k]:
            need[k] /= dp
    sbh = model["seq"] * b * model["hidden"]
    scores = 5 * model["heads"] * model["seq"] ** 2 * b / tp
    A = 10 * sbh + 24 * sbh / tp + scores
    micro = model["batch"] // dp // b
    count = min(micro, pp) * model["layers"] // pp
    need["activations"] = A + count * 2 * sbh if plan["recompute"] else A * count
    if sum(need.values()) > cluster["memory"]:
        return max(need, key=lambda k: need[k])
    return "runs"
