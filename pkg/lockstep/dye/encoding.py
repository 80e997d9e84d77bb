"""The encoding of a dye: numbers from whose sum the summands can be read, with their multiplicities.

Element e of the dyed rank is ``unit · B**e``. A result of 2·B**3 + B then contains element 3 twice and element 1 once.
The digits are balanced, from -B/2 + 1 to B/2, so that differences can be read as well. B is a power of two, so that a
single digit is exact in any format.

    B   the base         D   digits that a number of this format represents exactly: log2(B)·D bits of its significand
    unit                 a multiple of every possible denominator, so that division leaves integers

``D`` elements are dyed at once; a larger tensor is dyed in several calls.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch

from lockstep.errors import UsageError

SIGNIFICAND = {  # bits: integers up to 2**bits are exact
    torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8, torch.int64: 53, torch.int32: 24,
}  # fmt: skip
WIDE, NARROW = 6, 4  # bits of a digit
ZERO = Fraction(0)  # the most frequent number: all ranks but one have zeros
NEAR = 8  # after the rounding of a division, a value may be an eighth from an integer


@dataclass(frozen=True)
class Digits:
    """The encoding of one vector: ``per_vector`` elements, ``bits`` per digit, multiplied by ``unit``."""

    bits: int
    per_vector: int
    unit: int

    @classmethod
    def of(cls, dtype: torch.dtype, ranks: int, weights: int) -> Digits:
        """An encoding in which ``ranks`` times a tensor can still be read. Raises UsageError for unsupported dtypes."""
        if dtype not in SIGNIFICAND:
            known = ", ".join(str(d).removeprefix("torch.") for d in SIGNIFICAND)
            raise UsageError(f"{dtype} cannot be dyed.", f"Take one of {known}.")
        significand = SIGNIFICAND[dtype]
        bits = max(WIDE if significand > 24 else NARROW, 1 + (ranks - 1).bit_length())
        return cls(bits, max(1, significand // bits), math.lcm(weights, ranks))

    def number(self, digit: int) -> int:
        """The number for an element with this digit."""
        return self.unit << self.bits * digit

    def read(self, value: Fraction, over: int) -> dict[int, int] | None:
        """The multiplicity of each digit in ``value``, in units of 1/``over``; None if it is no sum of digits."""
        # In integers: fractions take several times as long.
        scaled, unit = value.numerator * over, value.denominator * self.unit
        left = (2 * scaled + unit) // (2 * unit)
        if abs(scaled - left * unit) * NEAR > over * value.denominator:
            return None
        base, found = 1 << self.bits, {}
        for digit in range(self.per_vector):
            count = left % base
            count -= base if count > base // 2 else 0
            left = (left - count) >> self.bits
            if count:
                found[digit] = count
        return None if left else found


def controls(dtype: torch.dtype, ranks: int, elements: int, unit: int) -> list[list[float]]:
    """Control tensors, one per rank, on which a linear map is exact and nonlinear functions are revealed: nonzero
    multiples of 1/4 of both signs; for integers, multiples of ``unit``, so that they can be divided."""
    draw = random.Random(ranks * 1000 + elements)
    most = 31 if SIGNIFICAND[dtype] >= 24 and dtype.is_floating_point else 7
    step = 0.25 if dtype.is_floating_point else float(unit)
    return [[step * draw.choice((-1, 1)) * draw.randint(1, most) for _ in range(elements)] for _ in range(ranks)]


def exact(numbers: Sequence[float]) -> list[Fraction] | None:
    """The numbers as exact fractions; None if one is infinite or NaN."""
    return [Fraction(n) if n else ZERO for n in numbers] if all(map(math.isfinite, numbers)) else None
