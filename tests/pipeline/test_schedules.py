"""Schedules drawn: what the papers show is laid out here, and is what the streams say."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from textwrap import dedent

import pytest

from lockstep.errors import UsageError
from lockstep.experiments.pipeline.schedule_text import drawn
from lockstep.pipeline.instructions import (
    Backward,
    Forward,
    ReceiveActivation,
    ReceiveGradient,
    SendActivation,
    SendGradient,
    Update,
)
from lockstep.pipeline.schedules import NAMES, ORDERS, stream, streams, ticks


def is_drawn(name: str, stages: int, micro_batches: int, chunks: int, picture: str) -> None:
    assert drawn(streams(name, stages, micro_batches, chunks)) == dedent(picture).strip()


def test_gpipe_is_a_trapezoid_there_and_back() -> None:
    """Figure 2(c) of GPipe: p = 4, m = 4."""
    picture = """
        F0 F1 F2 F3 .. .. .. .. .. .. B3 B2 B1 B0
        .. F0 F1 F2 F3 .. .. .. .. B3 B2 B1 B0 ..
        .. .. F0 F1 F2 F3 .. .. B3 B2 B1 B0 .. ..
        .. .. .. F0 F1 F2 F3 B3 B2 B1 B0 .. .. ..
    """
    is_drawn("gpipe", 4, 4, 1, picture)


def test_naive_has_one_stage_at_work() -> None:
    """Figure 2(b) of GPipe, twice."""
    picture = """
        F0 .. .. .. .. B0 F1 .. .. .. .. B1
        .. F0 .. .. B0 .. .. F1 .. .. B1 ..
        .. .. F0 B0 .. .. .. .. F1 B1 .. ..
    """
    is_drawn("naive", 3, 2, 1, picture)


def test_one_forward_one_backward() -> None:
    picture = """
        F0 F1 F2 F3 .. .. .. B0 F4 B1 F5 B2 .. B3 .. B4 .. B5
        .. F0 F1 F2 .. .. B0 F3 B1 F4 B2 F5 B3 .. B4 .. B5 ..
        .. .. F0 F1 .. B0 F2 B1 F3 B2 F4 B3 F5 B4 .. B5 .. ..
        .. .. .. F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 .. .. ..
    """
    is_drawn("one_f_one_b", 4, 6, 1, picture)


def test_interleaved_sends_each_group_of_p_round_v_times() -> None:
    picture = """
        F0  F1  F0b F1b F2  B0b F3  B1b F2b B0  F3b B1  ... B2b ... B3b B2  B3
        ... F0  F1  F0b B0b F1b B1b F2  B0  F3  B1  F2b B2b F3b B3b B2  B3  ...
    """
    shown = drawn(streams("interleaved", 2, 4, 2)).splitlines()
    assert [line.rstrip() for line in shown] == dedent(picture).strip().splitlines()


def test_zb_h1_fills_the_end_with_weights() -> None:
    """Figure 3 of Zero Bubble has p = 4, m = 8; here three stages and four micro-batches."""
    picture = """
        F0 F1 F2 .. .. D0 W0 F3 D1 W1 D2 W2 D3 W3
        .. F0 F1 .. D0 F2 D1 W0 F3 D2 W1 D3 W2 W3
        .. .. F0 D0 F1 D1 F2 D2 W0 F3 D3 W1 W2 W3
    """
    is_drawn("zb_h1", 3, 4, 1, picture)


@pytest.mark.parametrize("name", ["naive", "gpipe", "one_f_one_b", "pipedream", "zb_h1"])
def test_the_picture_in_a_schedules_docstring_is_what_it_does(name: str) -> None:
    told = importlib.import_module(f"lockstep.pipeline.schedules.{name}").__doc__
    rows = re.findall(r"stage \d   ((?:[A-Z.][\d.] ?)+)", told)
    p, m = map(int, re.findall(r"p = (\d), m = (\d)", told)[0])
    assert [row.rstrip() for row in rows] == drawn(streams(name, p, m)).splitlines()


def test_a_stream_posts_at_once_what_neighbours_exchange() -> None:
    """Stage 1 of 3 between a forward and a backward pass: the send goes out together with the receive."""
    assert stream("one_f_one_b", 1, 3, 2) == [
        ReceiveActivation(0),
        Forward(0),
        SendActivation(0), ReceiveActivation(1),
        Forward(1),
        SendActivation(1), ReceiveGradient(0),
        Backward(0),
        SendGradient(0), ReceiveGradient(1),
        Backward(1),
        SendGradient(1),
        Update(),
    ]  # fmt: skip


def test_one_stage_sends_nothing() -> None:
    assert stream("gpipe", 0, 1, 2) == [Forward(0), Forward(1), Backward(1), Backward(0), Update()]
    assert len(stream("interleaved", 0, 1, 2, chunks=3)) == 2 * 3 * 2 + 1


def test_instructions_of_different_kinds_differ() -> None:
    assert Forward(1) == Forward(1) != Backward(1)
    assert repr([Forward(1), Backward(2, 1), Update()]) == "[Forward(1), Backward(2, chunk=1), Update()]"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("fastest", 0, 2, 2), "no schedule 'fastest'"),
        (("gpipe", 2, 2, 2), "no stage 2 of 2"),
        (("gpipe", 0, 2, 0), "0 micro-batches"),
        (("gpipe", 0, 2, 2, 2), "one chunk"),
        (("interleaved", 0, 4, 6, 2), "6 is no multiple of 4"),
    ],
)
def test_what_makes_no_sense_is_told(wrong: tuple, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ticks(*wrong)


def test_every_schedule_has_its_file() -> None:
    assert set(NAMES) == {*ORDERS, "interleaved"}


def test_schedules_need_neither_torch_nor_a_world() -> None:
    modules = ["schedules", "validate", "counts", "simulate", "drawn"]
    names = ", ".join(f"lockstep.pipeline.{m}" for m in modules)
    code = f"import sys, {names}; sys.exit(any(m in sys.modules for m in ('torch', 'lockstep.worlds')))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
