"""A function for a layer: when it returns, its m and v are gone."""


def offload(parameters, gradients, host, step, rate):
    def one(i):
        m, v = host.load(i)
        g, w = gradients[i], parameters[i]
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        host.store(i, m, v)
        w.addcdiv_(m / (1 - 0.9**step), (v / (1 - 0.999**step)).sqrt_().add_(1e-8), value=-rate)

    for i in range(len(parameters)):
        one(i)
