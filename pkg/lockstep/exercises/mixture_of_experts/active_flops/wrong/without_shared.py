"""The learner thought: a token meets k experts."""

MISCONCEPTION = "without-shared"
TELL = "You leave out the shared experts: they compute every token, on top of the k that the gate has chosen."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (8 * d * d + 4 * context * d) + 2 * d * vocabulary
    return of_all + (layers - with_experts) * 16 * d * d + with_experts * (k * 4 * d * hidden + 2 * d * experts)
