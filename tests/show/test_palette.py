"""One colour per kind, which people with and without colour vision deficiencies can tell apart."""

from __future__ import annotations

import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from all_figures import FIGURES
from drawn_traces import sawtooth

from lockstep.events import COLLECTIVES, POINT_TO_POINT
from lockstep.show import memory_over_time, memory_stacks, palette, pipeline
from lockstep.show.reconciliation import Comparison

# Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009.
VISION = {
    "full": np.eye(3),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritanopia": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


def lab(colour: str, vision: str) -> np.ndarray:
    """CIELAB of ``#RRGGBB`` as seen."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels])
    seen = np.clip(VISION[vision] @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = (
        t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in to_xyz @ seen / [0.9505, 1, 1.089]
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_every_kind_has_its_own_colour() -> None:
    assert set(palette.COLOURS) == {"compute", *POINT_TO_POINT, *COLLECTIVES} == set(palette.KINDS)
    assert len(set(palette.COLOURS.values())) == len(palette.KINDS)


@pytest.mark.parametrize("vision", VISION)
def test_any_two_kinds_stay_apart(vision: str) -> None:
    seen = {kind: lab(colour, vision) for kind, colour in palette.COLOURS.items()}
    distance = {(a, b): math.dist(seen[a], seen[b]) for a, b in combinations(seen, 2)}
    closest = min(distance, key=lambda pair: distance[pair])
    assert distance[closest] >= 20, (closest, distance[closest])


@pytest.mark.parametrize("kind", palette.KINDS)
def test_names_in_bars_can_be_read(kind: str) -> None:
    background = palette.colour(kind)
    levels = sorted((palette.luminance(background), palette.luminance(palette.text_on(background))))
    assert (levels[1] + 0.05) / (levels[0] + 0.05) >= 4


def test_an_unknown_kind_is_drawn_all_the_same() -> None:
    assert palette.colour("gossip") == palette.colour("compute")
    assert palette.in_order(["gossip", "recv", "send", "recv"]) == ["send", "recv", "gossip"]


def test_lines_of_algorithms_differ_in_colour() -> None:
    assert len({colour for colour, _ in palette.LINES.values()}) == len(palette.LINES)


SAME = [{"forward", "activations"}, {"backward", "gradients"}, {"update", "optimizer state"}, {"buffers", "work"}]


def test_one_colour_has_one_meaning() -> None:
    """Forward had the colour of an all-reduce, backward that of a broadcast, an optimizer's state that of a send."""
    for a, b in combinations(palette.ROLES, 2):
        is_same = any({a, b} <= together for together in SAME)
        assert (palette.ROLES[a] == palette.ROLES[b]) == is_same, (a, b)
    shared = {
        role: kind for role, of in palette.ROLES.items() for kind, colour in palette.COLOURS.items() if of == colour
    }
    together = {"parameters": "all_gather", "buffers": "compute", "work": "compute", "marked": "send"}
    assert shared == together


@pytest.mark.parametrize("vision", VISION)
def test_passes_and_collectives_of_a_timeline_stay_apart(vision: str) -> None:
    phases = {role: palette.ROLES[role] for role in ("forward", "backward", "update")}
    seen = {name: lab(colour, vision) for name, colour in (palette.COLOURS | phases).items()}
    distance = {(a, b): math.dist(seen[a], seen[b]) for a, b in combinations(seen, 2)}
    closest = min(distance, key=lambda pair: distance[pair])
    assert distance[closest] >= 19.5, (closest, distance[closest])


def test_what_is_alike_in_two_figures_has_the_same_colour_in_both() -> None:
    """By the drawings, not by the table: the bars of a schedule, the areas of memory, the marks of a reconciliation."""
    passes = {
        re.findall(r": (\w+) of", told)[0]: fill
        for told, fill in re.findall(
            r"<title>(stage [^<]*)</title><rect[^>]*fill=\"(#\w+)\"", pipeline("gpipe", 2, 2).svg()
        )
    }
    areas = dict(re.findall(r"<path[^>]*fill=\"(#\w+)\"><title>([\w ]+)</title>", memory_over_time(sawtooth()).svg()))
    held = {name: fill for fill, name in areas.items()}
    assert passes == {"Forward": palette.ROLES["forward"], "Backward": palette.ROLES["backward"]}
    assert held["activations"] == passes["Forward"]
    assert held["parameters"] == palette.colour("all_gather")
    stacks = memory_stacks().svg()
    assert all(f'fill="{palette.ROLES[kind]}"' in stacks for kind in ("parameters", "gradients", "optimizer state"))
    marks = re.findall(r'fill="(#\w+)"[^>]*><title>(\w+): ', Comparison("?", "ms", 1.0, 2.0, 3.0).svg())
    assert {name: fill for fill, name in marks} == {
        name: palette.ROLES[name] for name in ("predicted", "simulated", "measured")
    }


def test_only_the_palette_names_colours() -> None:
    """Eight figures had colours of their own: a knob was as blue as a simulation, a wrong program like a prediction."""
    folder = Path(palette.__file__).parent
    page = {"palette.py", "document.py"}  # the second has the page's own style
    own = {f.name: re.findall(r"#[0-9A-Fa-f]{6}\b", f.read_text()) for f in folder.rglob("*.py") if f.name not in page}
    assert len(own) > 50
    assert {name: colours for name, colours in own.items() if colours} == {}


WORTH = {palette.ROLES[role]: role for role in ("predicted", "simulated", "measured")}


@pytest.mark.parametrize("name", ["lines", "plan", "product_by_tiles", "roofline", "survey", "deadlock", "warp"])
def test_what_is_neither_predicted_nor_simulated_nor_measured_has_none_of_their_colours(name: str) -> None:
    drawn = FIGURES[name]().svg()
    fills = set(re.findall(r'(?:fill|stroke)="(#[0-9A-Fa-f]{6})"', drawn))
    assert len(fills) > 1
    assert {WORTH[fill] for fill in fills & WORTH.keys()} <= ({"measured"} if name == "roofline" else set())


# Text and lines that lie on the page itself: JupyterLab's is white, or #111111.
PAGES = {"light": 1.0, "dark": palette.luminance("#111111")}
OWN = re.compile(r"ls-(?:ink|faint|line|lane|paper|halo|mark|swatch)")


def seen(colour: str, page: float) -> float:
    light, dark = sorted((palette.luminance(colour), page), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", FIGURES)
def test_lines_of_a_figure_are_seen_on_a_light_page_and_on_a_dark_one(name: str, page: str) -> None:
    """The dotted line of the processors' figure was black, and the limit of Amdahl's law dark blue: nobody saw them in
    the dark. What follows the theme, or is the rim of something, is not meant."""
    drawn = FIGURES[name]().svg()
    if name == "losses_of_twelve":  # its verdicts were written in the red of their arrows
        for tag in re.findall(r"<text[^>]*>", drawn):
            assert OWN.search(tag), tag
    assert not re.search(r'(?:stroke|fill)="(?:black|#000|#000000)"', drawn)
    for tag in re.findall(r"<(?:line|polyline|path)[^>]*>", drawn):
        stroke = re.search(r'stroke="(#[0-9A-Fa-f]{6})"', tag)
        is_line = 'fill="none"' in tag or tag.startswith("<line")
        if stroke and is_line and not OWN.search(tag) and "opacity" not in tag and stroke[1] != palette.PAPER:
            assert seen(stroke[1], PAGES[page]) >= 2.0, tag[:160]
