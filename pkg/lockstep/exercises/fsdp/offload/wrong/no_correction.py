"""The learner thought: m and v are the means."""

MISCONCEPTION = "no-bias-correction"
TELL = "You leave out the corrections: m and v begin as zeros, so they are divided by 1 - 0.9^step and 1 - 0.999^step."


def offload(parameters, gradients, host, step, rate):
    for i in range(len(parameters)):
        m, v = host.load(i)
        m = 0.9 * m + 0.1 * gradients[i]
        v = 0.999 * v + 0.001 * gradients[i] ** 2
        parameters[i] -= rate * m / (v**0.5 + 1e-8)
        host.store(i, m, v)
        del m, v
