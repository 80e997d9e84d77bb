"""The learner thought: m and v are changed in place, so the host has them."""

MISCONCEPTION = "never-stored"
TELL = "You store nothing: what load gives is a copy, and the host still has zeros."


def offload(parameters, gradients, host, step, rate):
    for i in range(len(parameters)):
        m, v = host.load(i)
        m = 0.9 * m + 0.1 * gradients[i]
        v = 0.999 * v + 0.001 * gradients[i] ** 2
        parameters[i] -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)) ** 0.5 + 1e-8)
        del m, v
