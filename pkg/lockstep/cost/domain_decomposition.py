"""The cost of a stencil on blocks: cells that a rank sends, and cells that it computes.

    h, w'   cells of a block        w   width of the halo: an exchange for every w steps

    sent in an exchange      2w·w' + 2w·(h + 2w)                the rim: rows, then columns with the corners
    computed in w steps      Σ (h + 2i)·(w' + 2i), i = 0 ... w - 1     the rim is computed by its neighbours, too

A field of n x n cells on K ranks: strips, K x 1, send 2wn cells each, however many ranks; squares, √K x √K, send
4w·(n/√K + w): less from K = 5 on. A rank that is alone in a direction sends nothing in it.
"""

from __future__ import annotations


def sent(h: int, w: int, P: int, Q: int, width: int = 1) -> int:
    """Cells that a rank with a block of h x w cells, of P x Q, sends in an exchange."""
    return (2 * width * w if P > 1 else 0) + (2 * width * (h + 2 * width) if Q > 1 else 0)


def computed(h: int, w: int, width: int = 1) -> int:
    """Cells that it computes from one exchange to the next, in ``width`` steps."""
    return sum((h + 2 * i) * (w + 2 * i) for i in range(width))
