"""Adam with its state on the host beside torch's: the same numbers, and one layer's state on the device."""

import torch

from lockstep import run
from lockstep.sharded.hosted import offload
from lockstep.sharded.watched_host import first_wrong, observed

SIZES = (300, 200, 250, 1, 280)


def three_steps():
    drawn = torch.Generator().manual_seed(3)
    parameters = [torch.randn(n, generator=drawn) for n in SIZES]
    gradients = [[torch.randn(n, generator=drawn) for n in SIZES] for _ in range(3)]
    mine = [w.clone().requires_grad_() for w in parameters]
    adam = torch.optim.Adam(mine, lr=0.01)
    for of_layers in gradients:
        for w, g in zip(mine, of_layers, strict=True):
            w.grad = g
        adam.step()
    return observed(offload, parameters, gradients, 0.01), [w.detach() for w in mine]


def test_the_numbers_are_those_of_torch_and_the_state_is_on_the_host():
    ((facts, right),) = run(three_steps, ranks=1, on="dgx-a100").values
    assert all(torch.allclose(w, want, atol=1e-6) for w, want in zip(facts["after"][-1], right, strict=True))
    assert (facts["most"], facts["left"]) == (1, 0)
    assert facts["held"] <= 4 * 4 * max(SIZES)  # m, v and two more; all of the state are 8 bytes for each number
    assert facts["calls"][0] == [f"{what} {layer}" for layer in range(len(SIZES)) for what in ("load", "store")]


def puts_new_tensors_into_the_list(parameters, gradients, host, step, rate):
    given = list(parameters)
    offload(fresh := [w.clone() for w in given], gradients, host, step, rate)
    parameters[:] = fresh


def watched():
    drawn = torch.Generator().manual_seed(3)
    parameters = [torch.randn(n, generator=drawn) for n in SIZES]
    facts = observed(puts_new_tensors_into_the_list, parameters, [[torch.ones_like(w) for w in parameters]], 0.01)
    return first_wrong(facts, parameters, [[torch.ones_like(w) for w in parameters]], 0.01)["stands"]


def test_the_tensors_that_were_given_are_to_change():
    """New ones in their list passed: whoever else holds the parameters has the old numbers."""
    assert run(watched, ranks=1, on="dgx-a100").values == [True]
