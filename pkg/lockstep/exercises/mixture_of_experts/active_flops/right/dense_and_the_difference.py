"""A dense model, and what changes where experts stand."""


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    dense = layers * (24 * width**2 + 4 * width * context) + 2 * width * vocabulary
    more = 4 * width * hidden * (k + shared) + 2 * width * experts - 16 * width**2
    return dense + with_experts * more
