"""One colour per kind, which people with and without colour vision deficiencies can tell apart."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from lockstep.events import COLLECTIVES, POINT_TO_POINT
from lockstep.show import palette

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
