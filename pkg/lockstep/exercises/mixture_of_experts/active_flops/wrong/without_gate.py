"""The learner thought: choosing costs nothing."""

MISCONCEPTION = "without-gate"
TELL = "You leave out the gate: each layer with experts has a product of the token (d) and a matrix (d, E)."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (8 * d * d + 4 * context * d) + 2 * d * vocabulary
    return of_all + (layers - with_experts) * 16 * d * d + with_experts * (k + shared) * 4 * d * hidden
