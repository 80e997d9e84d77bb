"""Layer by layer, each product counted by its shape."""


def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    def product(rows, columns):
        return 2 * rows * columns

    total = product(width, vocabulary)
    for layer in range(layers):
        total += 4 * product(width, width) + 2 * product(width, context)
        if layer < with_experts:
            total += product(width, experts) + (k + shared) * (product(width, hidden) + product(hidden, width))
        else:
            total += product(width, 4 * width) + product(4 * width, width)
    return total
