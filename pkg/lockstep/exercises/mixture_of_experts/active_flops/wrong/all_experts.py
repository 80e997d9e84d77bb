"""The learner thought: the layer has E experts, so a token costs E experts."""

MISCONCEPTION = "all-experts"
TELL = "You count all E experts. A token is computed by k of them, and by the shared ones."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (8 * d * d + 4 * context * d) + 2 * d * vocabulary
    return (
        of_all
        + (layers - with_experts) * 16 * d * d
        + with_experts * ((experts + shared) * 4 * d * hidden + 2 * d * experts)
    )
