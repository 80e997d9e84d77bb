"""The learner thought: the corrected m and v are the new ones."""

MISCONCEPTION = "stores-corrected"
TELL = "You store the corrected m and v. The correction is for this step only: the host keeps m and v without it."


def offload(parameters, gradients, host, step, rate):
    for i in range(len(parameters)):
        m, v = host.load(i)
        m = 0.9 * m + 0.1 * gradients[i]
        v = 0.999 * v + 0.001 * gradients[i] ** 2
        m, v = m / (1 - 0.9**step), v / (1 - 0.999**step)
        parameters[i] -= rate * m / (v**0.5 + 1e-8)
        host.store(i, m, v)
        del m, v
