"""The learner thought: what was loaded once need not be loaded again."""

MISCONCEPTION = "keeps-on-device"
TELL = "Layers' m and v stay in a dict of yours, on the device. Their place is the host."


def offload(parameters, gradients, host, step, rate):
    states = offload.__dict__.setdefault("states", {})
    if step == 1:
        states.clear()
    for i, (w, g) in enumerate(zip(parameters, gradients)):
        if i not in states:
            states[i] = host.load(i)
        m, v = states[i]
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        host.store(i, m, v)
        w -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
