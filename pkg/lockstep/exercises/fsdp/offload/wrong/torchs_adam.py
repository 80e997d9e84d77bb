"""The learner thought: torch's Adam does it, if it gets the state from the host."""

import torch

MISCONCEPTION = "uses-an-optimizer"


def offload(parameters, gradients, host, step, rate):
    for i, (w, g) in enumerate(zip(parameters, gradients, strict=True)):
        m, v = host.load(i)
        w.grad = g
        adam = torch.optim.Adam([w], lr=rate)
        adam.state[w] = {"step": torch.tensor(float(step - 1)), "exp_avg": m, "exp_avg_sq": v}
        adam.step()
        host.store(i, m, v)
        w.grad = None
        del m, v, adam
