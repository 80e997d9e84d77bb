"""The learner thought: a number is a number."""

MISCONCEPTION = "not-an-integer"


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = float(width)
    of_all = layers * (8 * d * d + 4 * context * d) + 2 * d * vocabulary
    moe = with_experts * ((k + shared) * 4 * d * hidden + 2 * d * experts)
    return of_all + (layers - with_experts) * 16 * d * d + moe
