"""What a right value may have become: times a constant, cut to whole numbers, shifted, turned over ...

These are tried for every exercise, and each is a true sentence: it says what the answer is, and not why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

Change = tuple[str, str]  # the misconception's id, and the sentence

CLOSE = 1e-9
SINGLE = 1e-6  # what is computed in float32 is nearer
COARSE = 2.0**-26  # a quarter of float32's precision: of several numbers, rounding moves one by more
NEAR = 2.0**-16  # a sum of a few hundred float32 is nearer
ROUNDED = 2.0**-40  # and no float32 is as near as float64 rounds

LARGEST = 64  # denominator by which a factor is told

PLACES = ("First", "Second", "Third", "Fourth", "Fifth")

ROUNDINGS: tuple[Callable[[float], float], ...] = (
    math.floor,
    math.ceil,
    *(lambda x, k=k: round(x, k) for k in range(6)),
)


def changed_numbers(answers: Sequence[float], right: Sequence[float]) -> Change | None:
    """How all of the numbers of a pure exercise differ from the right ones, if they do so in one way."""
    pairs = [(a, w) for a, w in zip(answers, right, strict=True) if math.isfinite(w)]
    if not pairs or not all(math.isfinite(a) for a, _ in pairs):
        return None
    if all(math.isclose(a, w, rel_tol=CLOSE) for a, w in pairs):
        return None
    several = len({w for _, w in pairs}) > 1  # of one number much can be said that means nothing
    if several and len({a for a, _ in pairs}) == 1 and 2 * sum(a == w for a, w in pairs) <= len(pairs):
        return "constant", f"These answers are all {pairs[0][0]:.6g}, and the right ones are not all the same."
    factor = _factor([a for a, _ in pairs], [w for _, w in pairs])
    if factor is not None:
        return "constant-factor", f"Every answer is {_times(factor)} the right one."
    for whole in (1, 100):
        if several and all(math.isclose(a, whole - w, rel_tol=CLOSE) for a, w in pairs):
            return "complement", f"Every answer is what is left of the whole: it and the right one make {whole}."
    for rounded in ROUNDINGS:
        says = any(rounded(w) != w and rounded(w) not in (0, 1) for _, w in pairs)
        if says and all(math.isclose(a, rounded(w), rel_tol=CLOSE, abs_tol=CLOSE) for a, w in pairs):
            return "rounded", "This is the right value, rounded: return it as it is."
    as_rounded = any(not math.isclose(a, w, rel_tol=COARSE) for a, w in pairs)
    if as_rounded and all(math.isclose(a, w, rel_tol=SINGLE) for a, w in pairs):
        return "single-precision", "No answer is off by more than a millionth of it: is anything in float32?"
    off = [a - w for a, w in pairs]
    if several and all(math.isclose(o, off[0], rel_tol=CLOSE) for o in off):
        return "offset", f"Every answer is {abs(off[0]):g} too {'large' if off[0] > 0 else 'small'}."
    return None


def changed_places(answers: Sequence[Sequence[float]], right: Sequence[Sequence[float]]) -> Change | None:
    """The same of tuples, place by place; those places that are right are left out."""
    changes = []
    for place, given, wanted in zip(PLACES, zip(*answers, strict=True), zip(*right, strict=True), strict=False):
        if not all(math.isclose(a, w, rel_tol=1e-6) for a, w in zip(given, wanted, strict=True)):
            change = changed_numbers(given, wanted)
            if change is None:
                return None
            changes.append((change[0], f"{place} value: {change[1][0].lower()}{change[1][1:]}"))
    return (changes[0][0], " ".join(sentence for _, sentence in changes)) if changes else None


def changed_tensors(held: Sequence[Any], wanted: Sequence[Tensor | None], own: Sequence[Any]) -> Change | None:
    """The same of tensors, by member of the group. ``own`` is what each of them was given. Where ``wanted`` is None a
    member may hold anything, and nothing is said of it; nor of one that should hold no elements."""
    asked = [(h, w, o) for h, w, o in zip(held, wanted, own, strict=True) if w is not None]
    rows = [(h, w, o) for h, w, o in asked if w.numel()]
    if not rows or not all(isinstance(h, Tensor) and h.shape == w.shape for h, w, _ in asked):
        return None
    if all(torch.equal(h.double(), w.double()) for h, w, _ in rows):
        return None
    some = len(asked) < len(held)
    for id, sentence, change in TENSORS:
        differs = any(not _is(w, change, w, o) for _, w, o in rows)  # or else it changes nothing, as turning zeros
        if differs and all(_is(h, change, w, o) for h, w, o in rows):
            return id, "It is the tensor that was given." if some and id == "unchanged" else sentence
    flat = [torch.cat([row[n].flatten().double() for row in rows]) for n in (0, 1)]
    off = flat[0] - flat[1]
    if len(off) > 1 and off.isfinite().all() and (off == off[0]).all():
        return "offset", f"Every element is {abs(off[0]):g} too {'large' if off[0] > 0 else 'small'}."
    if all(w.dtype == torch.float64 for _, w, _ in rows) and (near := _nearly(off, flat[1])):
        return near
    if flat[0].isnan().any() and not flat[1].isnan().any():
        return "not-a-number", "A nan often comes of 0 / 0, as in a mean of no numbers; it stays: 0 times nan is nan."
    wrong = [(h, w) for h, w, _ in rows if not torch.allclose(h.double(), w.double(), rtol=NEAR, atol=0.0)]
    of_some = [torch.cat([row[n].flatten().double() for row in wrong]) for n in (0, 1)] if wrong else flat
    rounding = CLOSE if all(w.dtype == torch.float64 for _, w, _ in rows) else NEAR
    factor = _factor(of_some[0].tolist(), of_some[1].tolist(), rounding)
    which = "Every element" if len(wrong) == len(rows) else "Of each tensor that is wrong, every element"
    there = " there" if some else ""
    return ("constant-factor", f"{which}{there} is {_times(factor)} the right one.") if factor else None


def _nearly(off: Tensor, right: Tensor) -> Change | None:
    """What is said of float64 numbers that are off by little, by no more than a sum in float32 is."""
    if not (off.abs() <= NEAR * right.abs()).all() or not (off.abs() > ROUNDED * right.abs()).any():
        return None
    shares = (off / right)[right != 0]
    largest = shares.abs().max()
    if len(shares) > 1 and largest > 1000 * ROUNDED and (shares - shares[0]).abs().max() < largest / 1000:
        told = f"Every element is off by the same share of it, {shares[0]:.2g}".replace("-", "−")
        return "constant-factor", f"{told}: is a small number added to what you divide by, or a factor rounded?"
    told = f"No element is off by more than {largest:.1g} of it"
    return "single-precision", f"{told}, as by rounding: is anything in float32?"


def _is(held: Tensor, change: Callable[[Tensor, Tensor], Tensor], wanted: Tensor, own: Any) -> bool:
    """Whether it is what ``change`` makes of the right one and the given one; if none of that shape was given, it is
    not."""
    alike = isinstance(own, Tensor) and own.shape == wanted.shape
    made = change(wanted, own if alike else torch.full_like(wanted, torch.nan, dtype=torch.float64))
    return made.shape == held.shape and torch.equal(made.double(), held.double())


SHIFTED = "This is the right result, shifted by one element."
TENSORS: Sequence[tuple[str, str, Callable[[Tensor, Tensor], Tensor]]] = (
    ("unchanged", "Every tensor is as it was given.", lambda right, own: own),
    ("all-zeros", "Every element is 0.", lambda right, own: torch.zeros_like(right)),
    ("minus-own", "This is the right result without what was there before: it should be counted in.",
     lambda right, own: right - own),
    ("transposed", "This is the right matrix, transposed.",
     lambda right, own: right.t() if right.dim() == 2 else right),
    ("shifted", SHIFTED, lambda right, own: right.flatten().roll(1).view_as(right)),
    ("shifted", SHIFTED, lambda right, own: right.flatten().roll(-1).view_as(right)),
    ("cut-to-whole", "This is the right result, cut to whole numbers.", lambda right, own: right.trunc()),
    ("single-precision", "This is the right result, rounded to float32: its dtype holds more.",
     lambda right, own: right.float()),
)  # fmt: skip


def _factor(answers: Sequence[float], right: Sequence[float], near: float = CLOSE) -> float | None:
    """The one number by which all right values are multiplied; it takes two different ones to say so."""
    ratios = [a / w for a, w in zip(answers, right, strict=True) if w]
    zeros = [a for a, w in zip(answers, right, strict=True) if not w]
    if (
        len({w for w in right if w}) < 2
        or any(zeros)
        or not ratios[0]
        or math.isinf(ratios[0])
        or abs(ratios[0] - 1) < 1e-6
    ):
        return None
    return ratios[0] if all(math.isclose(r, ratios[0], rel_tol=near) for r in ratios) else None


def _times(factor: float) -> str:
    """As in "1,024 times", "1/1,000 of", "−1.5 times", "16/17 of"."""
    inverse, ratio = 1 / factor, Fraction(factor).limit_denominator(LARGEST)
    if math.isclose(factor, round(factor), rel_tol=1e-6):
        told = f"{round(factor):,} times"
    elif abs(factor) < 1 and math.isclose(inverse, round(inverse), rel_tol=1e-6):
        told = f"{'-' if factor < 0 else ''}1/{abs(round(inverse)):,} of"
    elif float(f"{factor:.6g}") != factor and math.isclose(factor, ratio, rel_tol=CLOSE):
        told = f"{ratio} {'of' if abs(factor) < 1 else 'times'}"
    else:
        told = f"{factor:.6g} times"
    return told.replace("-", "−")
