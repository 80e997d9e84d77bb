"""The learner thought: a product of d numbers has d operations."""

MISCONCEPTION = "constant-factor"


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (4 * d * d + 2 * context * d) + d * vocabulary
    moe = with_experts * ((k + shared) * 2 * d * hidden + d * experts)
    return of_all + (layers - with_experts) * 8 * d * d + moe
