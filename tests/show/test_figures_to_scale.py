"""What all figures keep to: no text is cut, and a length is in proportion to what it stands for."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import matplotlib
import numpy as np
import pytest
from all_figures import EXTREMES, FIGURES
from PIL import ImageFont

from lockstep import show

SVG = "{http://www.w3.org/2000/svg}"
ALL = {**FIGURES, **{f"extreme: {name}": draw for name, draw in EXTREMES.items()}}
ANCHORED = {"start": 0.0, "middle": 0.5, "end": 1.0}


pytestmark = pytest.mark.xdist_group("figures to scale")  # each figure is drawn once, for all tests of it


@cache
def drawings(name: str) -> list[str]:
    """All that a figure can show, at least its corners: the first and the last of many sheets and frames."""
    figure = ALL[name]()
    found = [figure.svg()]
    if hasattr(figure, "sheets"):
        sheets = list(figure.sheets())
        few = sheets if len(sheets) <= 12 else sheets[:: math.ceil(len(sheets) / 12)] + sheets[-1:]
        found += [sheet.frames[n] for sheet in few for n in {0, len(sheet.frames) // 2, len(sheet.frames) - 1}]
    return found


@cache
def font(is_bold: bool, is_mono: bool) -> Any:
    """DejaVu Sans: what a browser takes on Linux where there is nothing else, and wider than all other system fonts."""
    name = f"DejaVuSans{'Mono' if is_mono else ''}{'-Bold' if is_bold else ''}.ttf"
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts/ttf" / name, 100)


def moved(attribute: str | None) -> np.ndarray:
    """An element's ``transform`` as a matrix."""
    matrix = np.eye(3)
    for name, numbers in re.findall(r"(\w+)\(([^)]*)\)", attribute or ""):
        values = [float(n) for n in re.split(r"[ ,]+", numbers.strip())]
        step = np.eye(3)
        if name == "translate":
            step[:2, 2] = [values[0], values[1] if len(values) > 1 else 0]
        elif name == "scale":
            step[0, 0], step[1, 1] = values[0], values[-1]
        elif name == "rotate":
            turn = math.radians(values[0])
            step[:2, :2] = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
            if len(values) == 3:
                step[:2, 2] = np.array(values[1:]) - step[:2, :2] @ np.array(values[1:])
        else:
            raise AssertionError(name)
        matrix = matrix @ step
    return matrix


def shown(e: Element, matrix: np.ndarray, look: dict[str, str]) -> Iterator[tuple[Element, np.ndarray, dict[str, str]]]:
    """All elements, each with where it is, and with the font that it has or inherits."""
    matrix = matrix @ moved(e.get("transform"))
    fonts = ("font-size", "font-weight", "font-family", "text-anchor")
    look = look | {name: e.attrib[name] for name in fonts if name in e.attrib}
    yield e, matrix, look
    for child in e:
        yield from shown(child, matrix, look)


def texts(drawing: str) -> Iterator[tuple[str, list[float], list[float]]]:
    """All texts, each with the x and the y of its corners."""
    root = ElementTree.fromstring(drawing)
    for e, matrix, look in shown(root, np.eye(3), {"text-anchor": "start", "font-weight": "400", "font-family": ""}):
        words = "".join(e.itertext()) if e.tag == f"{SVG}text" else ""
        if not words:
            continue
        size = float(look["font-size"].removesuffix("px"))
        is_bold = look["font-weight"] in ("bold", "600", "700")
        lines = ["".join(part.itertext()) for part in e.iter(f"{SVG}tspan")] or [words]
        long = max(font(is_bold, "mono" in look["font-family"].lower()).getlength(one) for one in lines) * size / 100
        x, y = (float(e.get(name, 0)) for name in "xy")
        left = x - ANCHORED[look["text-anchor"]] * long
        corners = [matrix @ (a, b, 1) for a in (left, left + long) for b in (y - 0.75 * size, y + 0.22 * size)]
        yield words, [float(c[0]) for c in corners], [float(c[1]) for c in corners]


def outside(drawing: str) -> list[str]:
    """The texts that end outside the drawing, and by how much."""
    width, height = (float(n) for n in ElementTree.fromstring(drawing).attrib["viewBox"].split()[2:])
    found = []
    for words, xs, ys in texts(drawing):
        over = max(-min(xs), max(xs) - width, -min(ys), max(ys) - height)
        if over > 0.5:
            found.append(f"{words[:60]!r} is {over:.0f} px outside ({min(xs):.0f} to {max(xs):.0f} of {width:.0f})")
    return found


def boxes(drawing: str) -> list[tuple[float, float, float, float]]:
    """Left, right, upper and lower edge of each filled rectangle, in the order in which they are drawn; where a text is
    drawn, an empty one."""
    found = []
    for e, matrix, _ in shown(ElementTree.fromstring(drawing), np.eye(3), {}):
        if e.tag == f"{SVG}text" and "".join(e.itertext()):
            found.append((0.0, 0.0, 0.0, 0.0))
        elif e.tag == f"{SVG}rect" and e.get("fill") != "none":
            x, y, width, height = (float(e.get(name, 0)) for name in ("x", "y", "width", "height"))
            (left, upper, _), (right, lower, _) = matrix @ (x, y, 1), matrix @ (x + width, y + height, 1)
            found.append((left, right, upper, lower))
    return found


def uppermost(drawing: str) -> Iterator[tuple[str, list[float], list[float]]]:
    """The texts on whose middle no later rectangle lies: a card on a pile covers the one below."""
    drawn = boxes(drawing)
    places = [n for n, box in enumerate(drawn) if box == (0.0, 0.0, 0.0, 0.0)]
    for place, (words, xs, ys) in zip(places, texts(drawing), strict=True):
        x, y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        if not any(left < x < right and upper < y < lower for left, right, upper, lower in drawn[place + 1 :]):
            yield words, xs, ys


def covered(drawing: str) -> list[str]:
    """Pairs of texts of which one lies on the other, by more than two pixels and a third of a line."""
    found = []
    cut = [(words, pieces(xs, ys)) for words, xs, ys in uppermost(drawing)]
    for (one, mine), (other, others) in combinations(cut, 2):
        for (left, right, upper, lower), (start, end, top, bottom) in product(mine, others):
            wide, high = min(right, end) - max(left, start), min(lower, bottom) - max(upper, top)
            if wide > 2 and high > 0.35 * min(lower - upper, bottom - top):
                found.append(f"{one[:40]!r} and {other[:40]!r} share {wide:.0f} x {high:.0f} px")
    return found


def pieces(xs: list[float], ys: list[float], parts: int = 16) -> list[tuple[float, float, float, float]]:
    """The box around a text, and around each piece of a slanted one: left, right, upper and lower edge."""
    if abs(xs[0] - xs[1]) < 0.01:
        return [(min(xs), max(xs), min(ys), max(ys))]
    middles = [
        [((a[0] + a[1]) * (1 - part) + (a[2] + a[3]) * part) / 2 for a in (xs, ys)]
        for part in ((n + 0.5) / parts for n in range(parts))
    ]
    return [(x - 4, x + 4, y - 5, y + 5) for x, y in middles]


def bars(drawing: str) -> Iterator[tuple[float, float]]:
    """Length in pixels and value of all that says which value its length has."""
    for e in ElementTree.fromstring(drawing).iter(f"{SVG}rect"):
        if "data-value" in e.attrib:
            yield float(e.get("height" if e.get("data-along") == "y" else "width", 0)), float(e.attrib["data-value"])


@pytest.mark.parametrize("name", ALL)
def test_no_text_ends_outside_its_figure(name: str) -> None:
    found = {told for drawing in drawings(name) for told in outside(drawing)}
    assert not found, "\n".join(sorted(found))


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_on_another(name: str) -> None:
    found = {told for drawing in drawings(name) for told in covered(drawing)}
    assert not found, "\n".join(sorted(found))


def test_the_name_of_a_roof_gives_way_to_those_of_kernels() -> None:
    """In lesson 02, "memory: 22.6 GB/s" lay across "dot, fast, 8 kB"."""
    dots = {
        "dot, fast, 8 kB": 26e9,
        "dot, fast, 64 MB": 5e9,
        "dot, in order, 8 kB": 2.1e9,
        "dot, in order, 64 MB": 1.8e9,
    }
    kernels = {name: (1e9, 4e9, 1e9 / rate) for name, rate in dots.items()} | {"matmul by BLAS": (86.5e9, 1e9, 1.0)}
    assert covered(show.roofline(86.5e9, {"L1": 196e9, "L2": 94.5e9, "memory": 22.6e9}, kernels).svg()) == []


@pytest.mark.parametrize("name", ALL)
def test_a_length_is_in_proportion_to_its_value(name: str) -> None:
    """64 ms beside 3.1 ms looked like 3.7 to 1: both bars began at a third of the smaller value."""
    for drawing in drawings(name):
        found = list(bars(drawing))
        most = max((value for _, value in found), default=0.0)
        long = max((length for length, _ in found), default=0.0)
        for length, value in found:
            assert abs(length - long * value / most) <= 2.1, (length, value, long, most)


@pytest.mark.parametrize("name", FIGURES)
def test_bars_say_which_value_they_have(name: str) -> None:
    """Else the test above would not see them. Bars: equally high, one below the other, the same left end, another
    length; or upright ones."""
    for drawing in drawings(name)[:1]:
        lying: dict[tuple[float, float], set[float]] = defaultdict(set)
        standing: dict[tuple[float, float], set[float]] = defaultdict(set)
        for e in ElementTree.fromstring(drawing).iter(f"{SVG}rect"):
            if "data-value" in e.attrib or {"ls-lane", "ls-paper", "background"} & set(e.get("class", "").split()):
                continue
            x, y, width, height = (float(e.get(name, 0)) for name in ("x", "y", "width", "height"))
            lying[x, height].add(width)
            standing[y + height, width].add(height)
        for lengths in (lying, standing):
            assert all(max(found) - min(found) < 3 for found in lengths.values()), lengths


def test_a_chart_has_no_bars_on_a_logarithmic_or_cut_axis() -> None:
    """In Vega-Lite a bar may begin anywhere."""
    for name, draw in FIGURES.items():
        spec = getattr(draw(), "spec", None)
        for layer in _layers(spec) if spec else ():
            mark = layer.get("mark")
            if (mark.get("type") if isinstance(mark, dict) else mark) in ("bar", "area"):
                for channel in layer["encoding"].values():
                    scale = channel.get("scale", {}) if channel.get("type") == "quantitative" else {}
                    assert scale.get("type") != "log", name
                    assert scale.get("zero", True), name


def _layers(spec: Any) -> Iterator[dict[str, Any]]:
    if isinstance(spec, dict):
        if "mark" in spec:
            yield spec
        for part in spec.values():
            yield from _layers(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from _layers(part)


def test_every_figure_is_tried() -> None:
    """By import: a new figure function needs its place in ``all_figures``."""
    without_extremes = {"active_and_total", "cache_walk", "inside_and_across", "kept_by_ranks", "losses_of_twelve",
                        "old_weights", "processors", "product_by_tiles", "race", "registers", "routed_text",
                        "sgd_map", "survey", "tensor_core", "warp"}  # fmt: skip
    tried = {name.partition(",")[0] for name in EXTREMES} | without_extremes
    assert set(show.__all__) - {"chart", "progress"} <= tried & set(FIGURES)
