"""Two figures of the lesson on pipelines: where a model is cut, and what old weights do."""

from __future__ import annotations

import pytest

from lockstep import tally
from lockstep.errors import UsageError
from lockstep.pipeline import pipedream_staleness
from lockstep.show import balance, old_weights, pipeline


def test_the_slowest_stage_is_marked() -> None:
    figure = balance([1, 3, 3, 8], {"even cut": [2, 2], "best cut": [3, 1]})
    assert figure.svg().count("← slowest") == 2
    assert "even cut: 4, 11; the slowest takes 11. best cut: 7, 8; the slowest takes 8." in figure.caption()


def test_every_slowest_stage_is_marked() -> None:
    assert balance([2, 2], {"cut": [1, 1]}).svg().count("← slowest") == 2


@pytest.mark.slow
def test_a_line_for_each_way() -> None:
    words = old_weights(2).caption()
    assert "flush 0.866" in words
    assert "PipeDream without stashing" in words


def test_a_slider_has_the_schedules_that_are_asked_for() -> None:
    figure = pipeline("gpipe", 4, 8, among=("naive", "gpipe"))
    assert figure.sliders()[0].stops == ["naive", "GPipe"]
    with pytest.raises(UsageError, match="no schedule 'pipedream'"):
        pipeline("pipedream", among=("naive",))


def test_three_trainings_are_counted_from_the_first_one_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """For eleven seconds nothing was shown."""
    said: list[str] = []
    monkeypatch.setattr(tally, "_teller", lambda: lambda text, is_last: said.append(text))
    monkeypatch.setattr(pipedream_staleness, "losses", lambda way, stages, rate: [2.0] * 20)
    monkeypatch.setattr(pipedream_staleness, "trained", lambda way, stages, rate: 2.0)
    old_weights()
    assert said[0] == "Training: 1 of 3, about 5 s more …"
