"""The learner thought: every layer has a gate."""

MISCONCEPTION = "gate-in-all-layers"
TELL = "You count a gate in all L layers. Only the M layers with experts have one."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (8 * d * d + 4 * context * d + 2 * d * experts) + 2 * d * vocabulary
    return of_all + (layers - with_experts) * 16 * d * d + with_experts * (k + shared) * 4 * d * hidden
