"""The learner thought: store what was loaded, and go on with it."""

MISCONCEPTION = "stores-the-old"
TELL = "You store m and v before they are updated. The host has those of the step before."


def offload(parameters, gradients, host, step, rate):
    for i, w in enumerate(parameters):
        m, v = host.load(i)
        host.store(i, m, v)
        m.mul_(0.9).add_(gradients[i], alpha=0.1)
        v.mul_(0.999).addcmul_(gradients[i], gradients[i], value=0.001)
        w -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
        del m, v
