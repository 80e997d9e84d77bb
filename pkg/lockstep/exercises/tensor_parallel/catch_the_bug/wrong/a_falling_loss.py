"""The learner thought: what trains is right."""

import torch

from lockstep import run
from lockstep.errors import RunError
from lockstep.models import GPT

MISCONCEPTION = "misses-wrong-losses"
ALSO = [
    "misses-wrong-gradients", "misses-wrong-places", "misses-small-differences", "misses-some-ranks", "misses-biases",
    "misses-some-sizes", "misses-groups",
]  # fmt: skip


def catch_the_bug(parallel, serial):
    model = GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)
    tokens = torch.randint(13, (2, 13), generator=torch.Generator().manual_seed(1))

    def losses():
        found = []
        for _ in range(3):
            loss, gradients = parallel(model, tokens[:, :-1], tokens[:, 1:])
            found.append(loss.item())
            for name, parameter in model.named_parameters():
                parameter.data -= 0.1 * gradients[name]
        return found

    try:
        first, *_, last = run(losses, ranks=4, on="dgx-a100").values[0]
        return last < first
    except RunError:
        return False
