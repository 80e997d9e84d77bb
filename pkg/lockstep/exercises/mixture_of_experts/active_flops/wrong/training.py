"""The learner thought: 6 FLOPs for each parameter."""

MISCONCEPTION = "constant-factor"


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (8 * d * d + 4 * context * d) + 2 * d * vocabulary
    moe = with_experts * ((k + shared) * 4 * d * hidden + 2 * d * experts)
    return 3 * (of_all + (layers - with_experts) * 16 * d * d + moe)
