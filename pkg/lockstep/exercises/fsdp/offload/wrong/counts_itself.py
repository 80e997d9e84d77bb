"""The learner thought: a function may count its calls."""

MISCONCEPTION = "wrong-values"


def offload(parameters, gradients, host, step, rate):
    offload.count = getattr(offload, "count", 0) + 1
    step = offload.count
    for i, (w, g) in enumerate(zip(parameters, gradients)):
        m, v = host.load(i)
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        host.store(i, m, v)
        m.div_(1 - 0.9**step)
        v.div_(1 - 0.999**step).sqrt_().add_(1e-8)
        w.addcdiv_(m, v, value=-rate)
        del m, v
