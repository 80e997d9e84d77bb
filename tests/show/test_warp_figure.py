"""The warp viewer: what a step shows is what the machine recorded."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from numba import cuda, float32

from lockstep import show
from lockstep.errors import UsageError
from lockstep.simt import launch
from lockstep.simt.kernels import naive_transpose


def halves(values):
    i = cuda.grid(1)
    if i % 2 == 0:
        values[i] = 3


def column(values):
    tile = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = values[t]


def of(kernel, *arguments):
    return show.warp(launch(kernel, 1, 32, *arguments, record=(0, 0)))


def test_lanes_that_are_off_are_told() -> None:
    figure = of(halves, np.zeros(32, np.float32))
    assert any("16 of 32 lanes at work" in caption for caption in figure.captions)
    assert "4 sectors of 32 bytes for 16 lanes" in figure.captions[-1]
    assert figure.frames[-1].count("switched off") == 16


def test_a_strided_access_touches_a_sector_for_each_lane() -> None:
    source, target = np.zeros((32, 32), np.float32), np.zeros((32, 32), np.float32)
    figure = show.warp(launch(naive_transpose, 1, (32, 32), source, target, record=(0, 0)))
    assert "32 sectors of 32 bytes for 32 lanes" in figure.captions[-1]


def test_lanes_that_meet_in_a_bank_are_wavefronts() -> None:
    assert "32 wavefronts for 32 lanes" in of(column, np.zeros(32, np.float32)).captions[-1]


def test_every_frame_is_an_svg_that_says_what_it_shows() -> None:
    figure = of(halves, np.zeros(32, np.float32))
    for frame, caption in zip(figure.frames, figure.captions, strict=True):
        root = ElementTree.fromstring(frame)
        assert caption in [element.text for element in root.iter() if element.tag.endswith("desc")]


def test_a_step_that_there_is_not_is_refused() -> None:
    figure = of(halves, np.zeros(32, np.float32))
    assert figure.svg(0) == figure.svg() != figure.svg(len(figure.frames) - 1)
    with pytest.raises(UsageError, match="0 to 3"):
        figure.svg(4)


def test_nothing_recorded_is_told_in_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"recorded no warp"):
        show.warp(launch(halves, 1, 32, np.zeros(32, np.float32)))
