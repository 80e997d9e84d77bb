"""The learner thought: load, compute, store: three loops."""

MISCONCEPTION = "loads-all"
TELL = "All layers' m and v are loaded before the first is used. Then they are on the device after all: load, update and store one layer at a time."


def offload(parameters, gradients, host, step, rate):
    states = [host.load(i) for i in range(len(parameters))]
    for i, (m, v) in enumerate(states):
        m.mul_(0.9).add_(gradients[i], alpha=0.1)
        v.mul_(0.999).addcmul_(gradients[i], gradients[i], value=0.001)
        parameters[i] -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
    for i, (m, v) in enumerate(states):
        host.store(i, m, v)
