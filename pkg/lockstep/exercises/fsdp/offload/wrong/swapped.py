"""The learner mixed up m and v."""

MISCONCEPTION = "swapped"
TELL = "You store v as m and m as v."


def offload(parameters, gradients, host, step, rate):
    for i in range(len(parameters)):
        m, v = host.load(i)
        m = 0.9 * m + 0.1 * gradients[i]
        v = 0.999 * v + 0.001 * gradients[i] ** 2
        parameters[i] -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)) ** 0.5 + 1e-8)
        host.store(i, v, m)
        del m, v
