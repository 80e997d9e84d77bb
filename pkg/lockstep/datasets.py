"""Small data sets, the same on every machine: nothing is downloaded, and all randomness comes from a seed.

x, y = digits()                                     1,797 handwritten digits, 8 x 8 grey values, in ten classes
(x, y), (x_test, y_test) = digits_split()           1,280 to train with, 517 to test with, always the same ones
x, y = dyadic(64, 8)                                regression data on which SGD computes without rounding
x, y = text_batch(library_text(), 8, 64, seed=0)    8 sequences of 64 bytes of Python source, and their next bytes
"""

from __future__ import annotations

import sysconfig
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lockstep.errors import UsageError

TRAINED = 1280  # of the 1,797 digits: 5 batches of 256, 20 of 64
BRIGHTEST = 16.0  # the largest grey value

Examples = tuple[Tensor, Tensor]  # inputs and targets


def digits() -> Examples:
    """Handwritten digits: x is float32 of shape (1797, 1, 8, 8) with values from 0 to 1, y is int64 of shape (1797,)
    with the classes 0 to 9, in scikit-learn's order. The course uses them in place of CIFAR-10: images in ten classes,
    too, but only a tenth of a megabyte, which comes with scikit-learn.

    Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998;
    this is its test set, ``sklearn.datasets.load_digits``. The file is read directly, since every run would import
    scikit-learn, which takes a hundred times as long."""
    rows = torch.from_numpy(np.loadtxt(_digits_file(), delimiter=","))
    x = rows[:, :-1].to(torch.float32).div_(BRIGHTEST).reshape(-1, 1, 8, 8)
    return x, rows[:, -1].to(torch.int64)


def _digits_file() -> Path:
    found = find_spec("sklearn")
    if found is None or found.origin is None:
        raise UsageError("scikit-learn, which has the digits, is not installed.", "Try: pip install scikit-learn")
    return Path(found.origin).parent / "datasets" / "data" / "digits.csv.gz"


def digits_split() -> tuple[Examples, Examples]:
    """The digits as a training set of 1,280 examples and a test set of 517, after a fixed shuffle: the file is ordered
    by writer, so that its last examples would not be a fair test set."""
    x, y = digits()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    train, test = order[:TRAINED], order[TRAINED:]
    return (x[train], y[train]), (x[test], y[test])


def dyadic(n: int, features: int, seed: int = 0) -> Examples:
    """Linear regression data in multiples of 1/2 and 1/4: x (n, features) and y (n,), float64.

    Sums, products and means over 2, 4, 8 ... of them are dyadic fractions with few bits, too. With a learning rate of
    1/4, say, a few steps of SGD from zero are exact in float64, so that the order of summation does not matter. Each
    step adds bits to the weights, 7 with 8 examples and 10 with 64, until they exceed the mantissa's 53 bits: after 7
    or 5 steps.

    Raises UsageError for fewer than one example or feature."""
    if n < 1 or features < 1:
        raise UsageError(f"There is no data of {n} examples with {features} features.", "Ask for one of each, or more.")
    drawn = torch.Generator().manual_seed(seed)
    x = torch.randint(-2, 3, (n, features), generator=drawn).to(torch.float64) / 2  # -1, -1/2, 0, 1/2, 1
    weights = torch.randint(-2, 3, (features,), generator=drawn).to(torch.float64) / 2
    noise = torch.randint(-1, 2, (n,), generator=drawn).to(torch.float64) / 4
    return x, x @ weights + noise


def library_text(limit: int = 1_000_000) -> Tensor:
    """The first ``limit`` bytes of the source of Python's standard library: uint8 of shape (limit,), values below 256.

    The top-level modules are concatenated in the order of their names; names with a leading underscore are left out,
    since some of these files differ between machines. So the text depends on Python's version only. Raises UsageError
    if there are fewer than ``limit`` bytes.
    """
    text = bytearray()
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("[a-z]*.py")):
        text += file.read_bytes()
        if len(text) >= limit:
            return torch.frombuffer(text[:limit], dtype=torch.uint8)
    raise UsageError(
        f"This Python's standard library has no {limit:,} bytes of source: {len(text):,} were found.",
        "Ask for less, or install Python with its source.",
    )


def text_batch(text: Tensor, examples: int, context: int, seed: int = 0) -> Examples:
    """Random sequences of ``text`` (n,) for a language model: x and y are int64 of shape (examples, context), and y is
    x shifted by one byte. Raises UsageError if the text is too short."""
    if not 0 < context < len(text):
        raise UsageError(f"A text of {len(text)} bytes has no piece of {context} with a byte after it.")
    drawn = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(text) - context, (examples, 1), generator=drawn)
    places = starts + torch.arange(context + 1)
    pieces = text[places].to(torch.int64)  # (examples, context + 1)
    return pieces[:, :-1], pieces[:, 1:]
