"""What leaves a sandbox: facts come back as they were, and nothing else comes in."""

from __future__ import annotations

import json
import math

import pytest
import torch

from lockstep.errors import Deadlock, Exit, RankState, RunError, UsageError
from lockstep.events import Event, Memory, Outcome, Trace
from lockstep.grading.sandbox_messages import Forged, decoded, encoded
from lockstep.grading.sandbox_worker import Told, message_of
from lockstep.places import Place

TRACE = Trace.of([Event(0, "send", 0.5, 1.0, 8, 1, (0, 1), where="lab.ipynb, cell 3"), Event(1, "recv", 0, 1)], 2, "x")


def test_an_outcome_comes_back_as_it_was():
    outcome = Outcome([b"\x00one", b""], TRACE, math.inf, [8, 16], "printed\ud800", memory=[Memory(8), Memory(16)])
    told, begun = decoded(encoded((outcome, (3, 0.25, 2))), Told)
    assert (told, begun) == (outcome, (3, 0.25, 2))


def test_an_error_comes_back_as_it_was():
    end = Exit(1, "raised", "ValueError", "learner", Place("lab.ipynb", 3, "f", "x = 1"), message="m", found=None)
    states = (RankState(0, "waiting", "recv(src=1)", waits_for=(1,), behind=(1, "send")),)
    error, _ = decoded(encoded((Deadlock("told", states, TRACE, "remedy", "printed", end), None)), Told)
    assert type(error) is Deadlock
    assert (error.message, error.states, error.trace, error.remedy, error.printed, error.exit) == (
        "told", states, TRACE, "remedy", "printed", end,
    )  # fmt: skip
    assert decoded(encoded(UsageError("a", "b")), UsageError).remedy == "b"


def test_tensors_come_back_to_the_bit():
    given = [torch.tensor([[1.0, float("nan")], [-0.0, 3.5]]), torch.arange(6).reshape(2, 3).t(), torch.zeros(0)]
    back = decoded(encoded(Outcome([(given, "x")], Trace(), 0.0, [])), Outcome).values[0][0]
    assert [(b.dtype, b.shape) for b in back] == [(g.dtype, g.shape) for g in given]
    assert all(torch.equal(b.nan_to_num(7), g.nan_to_num(7)) for b, g in zip(back, given, strict=True))


def test_what_is_no_fact_is_told_in_its_place():
    told, begun = decoded(message_of((Outcome([object()], Trace(), 0.0, []), None)), Told)
    assert (type(told), begun) == (UsageError, None)
    assert "cannot leave its sandbox: a object is no fact" in told.message


def message(told: object, rest: bytes = b"") -> bytes:
    text = json.dumps(told).encode()
    return len(text).to_bytes(8, "big") + text + rest


@pytest.mark.parametrize(
    "told",
    [
        1,
        {"c": "Popen", "f": ["touch /tmp/x"]},
        {"t": [{"c": "Event", "f": [0]}, None]},
        {"t": [{"c": "RankDied", "f": ["m", {"t": []}, None, 7, "", None]}, None]},
        {"t": [{"c": "UsageError", "f": [["<b>"], ""]}, None]},
        {"t": [{"c": "Place", "f": ["", 0, "", ""]}, None]},
        {"t": [None, None]},
    ],
)
def test_anything_else_is_forged(told):
    with pytest.raises(Forged):
        decoded(message(told), Told)


def test_bytes_are_no_others():
    with pytest.raises(Forged):
        decoded(message({"b": [0, 9]}, b"short"), bytes)
    with pytest.raises(Forged):
        decoded(b"\xff" * 40, Told)
    with pytest.raises(Forged):
        decoded(message([[]] * 3)[:9] + b"[" * 100_000, RunError)


def test_only_facts_leave():
    with pytest.raises(TypeError):
        encoded(object())
