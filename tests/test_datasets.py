"""The data sets are the same everywhere, and what their docstrings say of them holds."""

import abc
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from sklearn.datasets import load_digits

from lockstep.datasets import digits, digits_split, dyadic, library_text, text_batch
from lockstep.errors import UsageError


def test_digits_are_images_in_ten_classes() -> None:
    x, y = digits()
    assert (x.shape, x.dtype, y.shape, y.dtype) == ((1797, 1, 8, 8), torch.float32, (1797,), torch.int64)
    assert (x.min(), x.max()) == (0, 1)
    assert y.unique().tolist() == list(range(10))


def test_the_split_is_all_of_it_and_always_the_same() -> None:
    (x, y), (x_test, y_test) = digits_split()
    assert (len(x), len(y), len(x_test), len(y_test)) == (1280, 1280, 517, 517)
    both = torch.cat([x, x_test]).flatten(1)
    assert sorted(map(tuple, both.tolist())) == sorted(map(tuple, digits()[0].flatten(1).tolist()))
    torch.manual_seed(5)
    assert torch.equal(digits_split()[0][0], x)
    assert y[:12].tolist() == [6, 5, 5, 7, 9, 9, 8, 4, 6, 8, 6, 0]  # so that no version of torch draws another one
    assert y_test.bincount().min() > 40


def exact_steps(n: int, features: int, seed: int) -> int:
    """How many steps of SGD with a learning rate of 1/4 give exactly what fractions give."""
    x, y = dyadic(n, features, seed)
    rows = [[Fraction(v) for v in row] for row in x.tolist()]
    wanted = [Fraction(v) for v in y.tolist()]
    w, exact = torch.zeros(features, dtype=torch.float64), [Fraction(0)] * features
    for step in range(20):
        w = w - x.T @ (x @ w - y) / n / 4
        errors = [
            sum(a * b for a, b in zip(row, exact, strict=True)) - want for row, want in zip(rows, wanted, strict=True)
        ]
        gradient = [sum(e * row[i] for e, row in zip(errors, rows, strict=True)) / n for i in range(features)]
        exact = [v - g / 4 for v, g in zip(exact, gradient, strict=True)]
        if [Fraction(v) for v in w.tolist()] != exact:
            return step
    return 20


@pytest.mark.parametrize("seed", range(4))
def test_dyadic_steps_are_exact_for_a_while_and_then_are_not(seed: int) -> None:
    assert exact_steps(8, 4, seed) == 7
    assert exact_steps(64, 8, seed) == 5


def test_dyadic_data_differ_by_seed_and_leave_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    x, y = dyadic(64, 8, seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    assert (x.dtype, y.dtype, x.shape, y.shape) == (torch.float64, torch.float64, (64, 8), (64,))
    assert torch.equal(x * 2, (x * 2).round())
    assert torch.equal(y * 4, (y * 4).round())
    assert torch.equal(dyadic(64, 8, seed=1)[0], x)
    assert not torch.equal(dyadic(64, 8, seed=2)[0], x)


def test_no_data_is_refused() -> None:
    with pytest.raises(UsageError, match="no data of 0 examples"):
        dyadic(0, 3)


def test_the_library_is_python() -> None:
    text = library_text(50_000)
    assert (text.shape, text.dtype) == ((50_000,), torch.uint8)
    assert bytes(text.tolist()).startswith(Path(abc.__file__).read_bytes()[:1000])
    assert torch.equal(library_text()[:50_000], text)
    with pytest.raises(UsageError, match="has no 1,000,000,000 bytes"):
        library_text(1_000_000_000)


def test_a_batch_of_text_says_what_follows() -> None:
    text, state = torch.arange(200, dtype=torch.uint8), torch.get_rng_state()
    x, y = text_batch(text, 5, 7, seed=3)
    assert (x.shape, x.dtype, y.shape) == ((5, 7), torch.int64, (5, 7))
    assert torch.equal(x + 1, y)
    assert torch.equal(x[:, 1:], y[:, :-1])
    assert torch.equal(text_batch(text, 5, 7, seed=3)[0], x)
    assert not torch.equal(text_batch(text, 5, 7, seed=4)[0], x)
    assert torch.equal(torch.get_rng_state(), state)
    assert text_batch(text, 1, 199)[0].flatten().tolist() == list(range(199))
    with pytest.raises(UsageError, match="no piece of 200"):
        text_batch(text, 1, 200)


def test_the_digits_are_those_of_scikit_learn() -> None:
    pixels, classes = load_digits(return_X_y=True)
    x, y = digits()
    assert torch.equal(x.flatten(1), torch.from_numpy(pixels).float() / 16)
    assert torch.equal(y, torch.from_numpy(classes).long())


@pytest.mark.slow
def test_to_read_the_digits_imports_no_scikit_learn() -> None:
    program = "import sys; from lockstep.datasets import digits; digits(); sys.exit('sklearn' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
