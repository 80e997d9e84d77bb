"""The learner thought: experts come on top of the FFN."""

MISCONCEPTION = "ffn-as-well"
TELL = "You count an FFN in all L layers. In M of them experts stand in its place: only L − M layers have an FFN."


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    d = width
    of_all = layers * (24 * d * d + 4 * context * d) + 2 * d * vocabulary
    return of_all + with_experts * ((k + shared) * 4 * d * hidden + 2 * d * experts)
