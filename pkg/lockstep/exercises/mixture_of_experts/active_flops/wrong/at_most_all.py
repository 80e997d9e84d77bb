"""The learner thought: no token has more experts than there are."""

MISCONCEPTION = "at-most-all-experts"
TELL = "Shared experts come on top of the k, and aren't among the E: k + shared of them compute a token, also where that is more than E."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    attention = 4 * 2 * width * width + 2 * 2 * context * width
    ffn = 2 * (2 * width * 4 * width)
    moe = min(k + shared, experts) * 2 * (2 * width * hidden) + 2 * width * experts
    return layers * attention + (layers - with_experts) * ffn + with_experts * moe + 2 * width * vocabulary
