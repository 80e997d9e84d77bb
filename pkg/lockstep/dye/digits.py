"""The dye: numbers of which a sum says what was added, and how often.

Element e of the dyed rank is ``unit · B**e``. A result 2·B**3 + B then says: element 3 twice, element 1 once. Digits
are balanced, from -B/2 + 1 to B/2, so that a difference is read as well. B is a power of two, so that one digit is
exact in any format, however large its power.

    B   the base         D   digits that a number of this format holds exactly: log2(B)·D bits of its significand
    unit                 a multiple of every denominator that is looked for, so that a division leaves whole numbers

``D`` elements are dyed at once. A tensor with more of them is dyed in several goes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch

from lockstep.errors import UsageError

SIGNIFICAND = {  # bits: whole numbers up to 2**bits are exact
    torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8, torch.int64: 53, torch.int32: 24,
}  # fmt: skip
WIDE, NARROW = 6, 4  # bits of a digit
ZERO = Fraction(0)  # most numbers: of all ranks but one
NEAR = 8  # the rounding of a division may leave a value an eighth from a whole number


@dataclass(frozen=True)
class Digits:
    """How one vector is dyed: ``per_vector`` elements, ``bits`` for each, ``unit`` times."""

    bits: int
    per_vector: int
    unit: int

    @classmethod
    def of(cls, dtype: torch.dtype, ranks: int, weights: int) -> Digits:
        """Wide enough that ``ranks`` times a tensor is still read. UsageError for a dtype that holds no two digits."""
        if dtype not in SIGNIFICAND:
            known = ", ".join(str(d).removeprefix("torch.") for d in SIGNIFICAND)
            raise UsageError(f"{dtype} cannot be dyed.", f"Take one of {known}.")
        significand = SIGNIFICAND[dtype]
        bits = max(WIDE if significand > 24 else NARROW, 1 + (ranks - 1).bit_length())
        return cls(bits, max(1, significand // bits), math.lcm(weights, ranks))

    def number(self, digit: int) -> int:
        """What an element of this digit is dyed with."""
        return self.unit << self.bits * digit

    def read(self, value: Fraction, over: int) -> dict[int, int] | None:
        """How often each digit is in ``value``, in ``over``-ths; None for what is no sum of digits."""
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
    """A tensor for each rank, on which a linear map gives exactly what it must, and other functions do not: quarters
    of both signs, none 0. Integers are whole, and what may be divided divides."""
    draw = random.Random(ranks * 1000 + elements)
    most = 31 if SIGNIFICAND[dtype] >= 24 and dtype.is_floating_point else 7
    step = 0.25 if dtype.is_floating_point else float(unit)
    return [[step * draw.choice((-1, 1)) * draw.randint(1, most) for _ in range(elements)] for _ in range(ranks)]


def exact(numbers: Sequence[float]) -> list[Fraction] | None:
    """The numbers without rounding; None if one is infinite or no number."""
    return [Fraction(n) if n else ZERO for n in numbers] if all(map(math.isfinite, numbers)) else None
