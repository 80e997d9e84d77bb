"""A mixture of depths looks ahead: which tokens its block computes depends on those that follow.

The C highest scores *of the sequence* are chosen. Put another end to a text, and tokens of its beginning that were
chosen are not, or the other way round; so what the layer gives for them changes, too. A model that generates does not
have the end yet. The paper's way out: a router's output for a token alone has to tell whether the token would be
chosen; that is learnt beside the model, and is right in 99 % of cases.

Source: Raposo et al., "Mixture-of-Depths: Dynamically allocating compute in transformer-based language models",
arXiv:2404.02258, introduction.
"""

from __future__ import annotations

import torch

from lockstep.experts.mixture_of_depths import MixtureOfDepths
from lockstep.models import Block

TEXTS, TOKENS, WIDTH, HEADS, SHARE = 100, 64, 32, 4, 1 / 8


def changed_by_the_end(seed: int = 0) -> int:
    """In how many of 100 random texts anything of the first half comes out otherwise if the second half is another."""
    generator = torch.Generator().manual_seed(seed)
    layer = MixtureOfDepths(Block(WIDTH, HEADS, 0, 0), WIDTH, SHARE)
    one, other = torch.randn(2, TEXTS, TOKENS, WIDTH, generator=generator)
    half = TOKENS // 2
    other[:, :half] = one[:, :half]
    with torch.no_grad():
        apart = (layer(one) - layer(other))[:, :half].abs().amax((1, 2))
    return int((apart > 1e-6).sum())
