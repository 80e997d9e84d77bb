"""The learner thought: m and v are stored when they are ready, one after the other."""

MISCONCEPTION = "too-many-calls"


def offload(parameters, gradients, host, step, rate):
    for i, (w, g) in enumerate(zip(parameters, gradients)):
        m, v = host.load(i)
        m.mul_(0.9).add_(g, alpha=0.1)
        host.store(i, m, v)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        host.store(i, m, v)
        w -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
        del m, v
