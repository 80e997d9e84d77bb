"""The learner thought: attention is one product with the keys."""

MISCONCEPTION = "attention-once"
TELL = "You count the attention once. A token's d numbers meet those of all s positions twice: for the scores, and for what they weigh. That is 2·2·s·d for each layer."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (8 * d * d + 2 * context * d) + 2 * d * vocabulary
    moe = with_experts * ((k + shared) * 4 * d * hidden + 2 * d * experts)
    return of_all + (layers - with_experts) * 16 * d * d + moe
