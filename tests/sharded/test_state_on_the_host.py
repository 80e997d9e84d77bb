"""Adam with its state on the host beside torch's: the same numbers, and one layer's state on the device."""

import torch

from lockstep import run
from lockstep.exercises.fsdp.watched_host import observed
from lockstep.sharded.offload import offload

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


def replaces(parameters, gradients, host, step, rate):
    """Puts a new tensor into the list, and loads one layer twice, another never."""
    parameters[0] = parameters[0] + 1
    host.load(1)
    host.load(1)


def test_a_new_tensor_in_the_list_is_no_change_in_place_and_calls_are_counted_by_layer():
    """The list that the function had was looked at, so a new tensor in it passed; calls were counted all together, so a
    layer that was loaded twice made up for one that was never loaded."""

    def one_step():
        return observed(replaces, [torch.zeros(3), torch.zeros(3)], [[torch.ones(3)] * 2], 0.01)

    (facts,) = run(one_step, ranks=1, on="dgx-a100").values
    assert not any(w.any() for w in facts["after"][0])
    assert (facts["often"], facts["missing"]) == ("load of layer 1", "store of layer 1")
