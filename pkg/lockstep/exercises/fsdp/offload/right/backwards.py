"""From the last layer to the first, with the corrections folded into one factor."""


def offload(parameters, gradients, host, step, rate):
    c1, c2 = 1 - 0.9**step, 1 - 0.999**step
    for i in reversed(range(len(parameters))):
        state = list(host.load(i))
        state[0].lerp_(gradients[i], 0.1)
        state[1].lerp_(gradients[i] ** 2, 0.001)
        host.store(i, *state)
        v = state.pop()
        v = v.sqrt().div_(c2**0.5).add_(1e-8)
        parameters[i].copy_(parameters[i] - rate / c1 * state.pop() / v)
