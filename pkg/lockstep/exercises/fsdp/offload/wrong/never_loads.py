"""The learner thought: NumPy arrays of my own are as good as the host."""

import torch

MISCONCEPTION = "too-few-calls"
mine = {}


def offload(parameters, gradients, host, step, rate):
    if step == 1:
        mine.clear()
    for i, (w, g) in enumerate(zip(parameters, gradients)):
        m, v = map(torch.from_numpy, mine[i]) if i in mine else (torch.zeros_like(w), torch.zeros_like(w))
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        host.store(i, m, v)
        mine[i] = m.numpy().copy(), v.numpy().copy()
        w -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
        del m, v
