"""The learner thought: 2 FLOPs for each active parameter, and that is all."""

MISCONCEPTION = "parameters-only"
TELL = "You leave out the attention: it has no parameters, but each token's d numbers meet those of all s positions, twice."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    ffn = (layers - with_experts) * 8 * d * d + with_experts * ((k + shared) * 2 * d * hidden + d * experts)
    return 2 * (layers * 4 * d * d + ffn + d * vocabulary)
