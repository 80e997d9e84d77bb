"""The learner thought: Without a gradient nothing moves."""

MISCONCEPTION = "wrong-values"
TELL = "You skip a layer whose gradient is zeros. Update it as any other."


def offload(parameters, gradients, host, step, rate):
    for i, (w, g) in enumerate(zip(parameters, gradients, strict=True)):
        if not g.any():
            continue
        m, v = host.load(i)
        m.lerp_(g, 0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        host.store(i, m, v)
        w.sub_(rate * m / (1 - 0.9**step) / ((v / (1 - 0.999**step)).sqrt() + 1e-8))
        del m, v
