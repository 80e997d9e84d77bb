"""The learner thought: the gradient is not needed any more, so its memory can be used."""

MISCONCEPTION = "changes-arguments"


def offload(parameters, gradients, host, step, rate):
    for i, (w, g) in enumerate(zip(parameters, gradients)):
        m, v = host.load(i)
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).add_(g.square_(), alpha=0.001)
        host.store(i, m, v)
        w -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
        del m, v
