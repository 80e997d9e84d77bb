"""The learner thought: epsilon keeps the root from zero."""

MISCONCEPTION = "epsilon-under-the-root"
TELL = "You add epsilon to v, under the root. It is added to the root: with small gradients that is a difference."


def offload(parameters, gradients, host, step, rate):
    for i in range(len(parameters)):
        m, v = host.load(i)
        m = 0.9 * m + 0.1 * gradients[i]
        v = 0.999 * v + 0.001 * gradients[i] ** 2
        parameters[i] -= rate * (m / (1 - 0.9**step)) / (v / (1 - 0.999**step) + 1e-8) ** 0.5
        host.store(i, m, v)
        del m, v
