"""The learner thought: an expert is a matrix, d to h."""

MISCONCEPTION = "one-matrix"
TELL = "You count one matrix for an expert. It has two: d to h, and back from h to d."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (8 * d * d + 4 * context * d) + 2 * d * vocabulary
    moe = with_experts * ((k + shared) * 2 * d * hidden + 2 * d * experts)
    return of_all + (layers - with_experts) * 16 * d * d + moe
