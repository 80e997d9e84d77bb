"""The learner thought: a list that has new tensors has been changed in place."""

MISCONCEPTION = "not-in-place"


def offload(parameters, gradients, host, step, rate):
    for i, (w, g) in enumerate(zip(parameters, gradients)):
        m, v = host.load(i)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        host.store(i, m, v)
        parameters[i] = w - rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
        del m, v
