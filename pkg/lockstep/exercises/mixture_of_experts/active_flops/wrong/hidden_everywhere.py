"""The learner thought: h is the hidden width of all layers."""

MISCONCEPTION = "hidden-everywhere"
TELL = "You give the FFNs the hidden width h. That is the experts'; an FFN has 4·d."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (8 * d * d + 4 * context * d) + 2 * d * vocabulary
    moe = with_experts * ((k + shared) * 4 * d * hidden + 2 * d * experts)
    return of_all + (layers - with_experts) * 4 * d * hidden + moe
