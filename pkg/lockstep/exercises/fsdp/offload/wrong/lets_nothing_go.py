"""The learner thought: the next load overwrites m and v."""

MISCONCEPTION = "two-layers"
TELL = "When load is called, m and v of the layer before still have their names: two layers' are on the device. del m, v first."


def offload(parameters, gradients, host, step, rate):
    for i in range(len(parameters)):
        m, v = host.load(i)
        m = 0.9 * m + 0.1 * gradients[i]
        v = 0.999 * v + 0.001 * gradients[i] ** 2
        parameters[i] -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)) ** 0.5 + 1e-8)
        host.store(i, m, v)
