"""The calculators give the numbers that papers print, and the notes' one that no recipe gives is not among them."""

import pytest

from lockstep.cost.training import (
    BYTES,
    RECIPES,
    bytes_per_parameter,
    most_parameters,
    training_days,
    training_flops,
    training_memory,
)
from lockstep.errors import UsageError

LLAMA_65B = 65_285_660_672  # 80 layers of 4·8192² + 3·8192·22016 + 2·8192, two embeddings of 32000·8192, one norm
YEAR = 365.25


def test_llama_has_as_many_parameters_as_its_layers() -> None:
    layer = 4 * 8192**2 + 3 * 8192 * 22016 + 2 * 8192
    assert 80 * layer + 2 * 32000 * 8192 + 8192 == LLAMA_65B


def test_gpt_3_as_its_paper_has_it() -> None:
    assert training_flops(174.6e9, 300e9) == pytest.approx(3.14e23, rel=0.001)


@pytest.mark.parametrize(("rate", "years"), [(1.0, 282), (1745 / 2250, 363), (0.4, 704)])
def test_gpt_4_on_one_b200(rate: float, years: int) -> None:
    params = 1e12
    tokens = 2.0e25 / 6 / params
    assert training_days(params, tokens, 1, 2.25e15, rate) / YEAR == pytest.approx(years, abs=0.6)


def test_twice_the_devices_take_half_the_days() -> None:
    one = training_days(1e9, 1e10, 1, 1e14, 0.4)
    assert training_days(1e9, 1e10, 2, 1e14, 0.4) == pytest.approx(one / 2)
    assert training_days(1e9, 1e10, 1, 1e14, 0.2) == pytest.approx(one * 2)


@pytest.mark.parametrize(
    ("recipe", "each"),
    [
        ("inference bf16", 2), ("sgd fp32", 8), ("momentum fp32", 12), ("adam fp32", 16), ("adam mixed", 16),
        ("adam bf16", 12), ("adam 8-bit", 6),
    ],
)  # fmt: skip
def test_bytes_of_each_recipe(recipe: str, each: int) -> None:
    assert bytes_per_parameter(RECIPES[recipe]) == each


def test_llama_65b_by_recipe() -> None:
    gigabytes = {name: round(training_memory(LLAMA_65B, recipe) / 1e9) for name, recipe in RECIPES.items()}
    assert gigabytes["adam mixed"] == 1045
    assert gigabytes["adam bf16"] == 783
    assert round(7 * LLAMA_65B / 1e9) == 457  # what the notes print: 7 bytes for each parameter
    assert 457 not in gigabytes.values()


def test_the_zero_paper_s_baseline() -> None:
    assert training_memory(7_500_000_000, RECIPES["adam mixed"]) == 120e9  # arXiv:1910.02054, table 1


def test_what_192_gb_can_train() -> None:
    assert most_parameters(192e9, RECIPES["adam mixed"]) == 12e9
    assert round(192 / 7) == 27  # what the notes print, in billions
    for recipe in RECIPES.values():
        most = most_parameters(192e9, recipe)
        assert training_memory(most, recipe) <= 192e9 < training_memory(most + 1, recipe)


def test_bytes_are_those_of_torch() -> None:
    import torch

    for name, size in BYTES.items():
        dtype = torch.float8_e4m3fn if name == "float8" else getattr(torch, name)
        assert dtype.itemsize == size


@pytest.mark.parametrize("bad", [{"utilisation": 40}, {"utilisation": 0}, {"devices": 0}, {"peak": -1}])
def test_senseless_questions_are_refused(bad: dict[str, float]) -> None:
    usual = {"params": 1e9, "tokens": 1e9, "devices": 8, "peak": 1e15, "utilisation": 0.4}
    with pytest.raises(UsageError):
        training_days(**(usual | bad))  # type: ignore[arg-type]


def test_an_unknown_dtype_is_named() -> None:
    with pytest.raises(UsageError, match="no dtype 'bf16'"):
        training_memory(10, {"weights": "bf16"})
