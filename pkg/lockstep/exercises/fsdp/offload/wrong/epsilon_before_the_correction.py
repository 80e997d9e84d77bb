"""The learner thought: the two corrections make one factor."""

MISCONCEPTION = "epsilon-before-the-correction"
TELL = "You correct v after epsilon has been added to its root. Epsilon is added to the root of the corrected v: with small gradients that is a difference."


def offload(parameters, gradients, host, step, rate):
    for i in range(len(parameters)):
        m, v = host.load(i)
        m = 0.9 * m + 0.1 * gradients[i]
        v = 0.999 * v + 0.001 * gradients[i] ** 2
        factor = (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
        parameters[i] -= rate * factor * m / (v**0.5 + 1e-8)
        host.store(i, m, v)
        del m, v
