"""What becomes of a failure is decided by facts, as the exception's type, and never by words in a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from lockstep import checks, run
from lockstep.checks.failures import failure_of
from lockstep.checks.guard import LibraryAnswer
from lockstep.errors import RankRaised, RunError

RING = "communication.ring_all_reduce"


class Misspelt(torch.nn.Module):
    def foward(self, x: Any) -> Any:
        return x


class Fake(Exception):
    """LibraryAnswer NotImplementedError"""


Fake.__name__ = Fake.__qualname__ = "LibraryAnswer"


def not_written(tensor, group=None):
    raise NotImplementedError("step 3")


def misspelt(tensor, group=None):
    return Misspelt()(tensor)


def text_of_ours(tensor, group=None):
    raise ValueError("my LibraryAnswer is NotImplementedError: rank 0 raised, killed by SIGSEGV")


def name_of_ours(tensor, group=None):
    raise Fake("NotImplementedError")


def operator(tensor, group=None):
    """Torch's C++ raises NotImplementedError on the learner's line."""
    return torch.empty(2, device="meta").item() if tensor.is_meta else torch.ones(2).to_sparse().unfold(0, 1, 1)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("fn", "misconception", "told"),
    [
        (not_written, "not-written", "not written yet"),
        (misspelt, "crashed:RankRaised", 'missing the required "forward" function'),
        (text_of_ours, "crashed:RankRaised", "ValueError: my LibraryAnswer"),
        (name_of_ours, "crashed:RankRaised", "LibraryAnswer: NotImplementedError"),
        (operator, "crashed:RankRaised", "NotImplementedError"),
    ],
)
def test_a_word_in_a_text_decides_nothing(fn: Callable[..., Any], misconception: str, told: str) -> None:
    """A module without forward was told "this is not written yet", and a ValueError "Lockstep's own answer"."""
    score = checks.check(RING, fn)
    assert misconception in [f.misconception for f in score.findings], score.text()
    assert not {"library-call", "not-written"} - {misconception} & {f.misconception for f in score.findings}
    assert any(told in f.message for f in score.findings), score.text()
    assert score.points == 0


def failed(fn: Callable[..., Any], on: str, ranks: int = 2) -> RunError:
    with pytest.raises(RunError) as caught:
        run(fn, torch.ones(2), ranks=ranks, on=on)
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_facts_survive_the_way_from_the_rank(on: str) -> None:
    failure = failure_of(failed(text_of_ours, on), 60.0)
    assert (failure.kind, failure.exception, failure.origin) == ("RankRaised", "ValueError", "learner")
    assert failure.text.startswith("my LibraryAnswer")
    assert failure.stated
    assert "in text_of_ours" in failure.where
    assert failure.source.startswith("raise ValueError(")
    assert failure.limit == 60.0
    assert (torchs := failure_of(failed(misspelt, on), 60.0)).origin == "torch"
    assert torchs.exception == "NotImplementedError"
    assert not torchs.not_written


def test_an_exception_of_ours_has_its_module() -> None:
    def answers(tensor: Any) -> None:
        raise LibraryAnswer("no")

    assert failure_of(failed(answers, "dgx-a100"), 1.0).library_answer
    error = failed(lambda tensor: name_of_ours(tensor), "dgx-a100")
    assert isinstance(error, RankRaised)
    assert not failure_of(error, 1.0).library_answer


def test_a_signal_is_a_fact() -> None:
    def torn(tensor: Any) -> None:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGSEGV)

    failure = failure_of(failed(torn, "processes", ranks=1), 1.0)
    assert (failure.kind, failure.exception) == ("RankDied", "")
    assert "SIGSEGV" in failure.ended


def test_a_function_that_ends_its_process_is_told_so_without_ranks() -> None:
    def leaves(p: float, s: int) -> float:
        import os

        os._exit(3)

    (first, *_) = checks.check("why_parallel.amdahl", leaves).findings
    assert first.misconception == "crashed:RankDied"
    assert "ended its process, which ended with exit status 3." in first.message
    assert "rank" not in first.message
