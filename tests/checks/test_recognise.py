"""What is known of wrong answers beside an attempt: also of those that do not get through."""

import pytest

from lockstep import checks
from lockstep.checks.exercise import find
from lockstep.checks.known import known_answers


@pytest.mark.slow
def test_beside_known_answers_that_crash_an_attempt_is_still_judged() -> None:
    """What an exercise looks at (here the passes) a run that failed does not have: the check was ungraded."""
    [answer] = [k for k in known_answers(find("pipeline.pipeline_worker")) if k.name == "own_schedule"]
    score = checks.check_file("pipeline.pipeline_worker", answer.path, keep=False)
    assert score.verdict == "wrong"
    assert [f.misconception for f in score.findings] == ["ignores-the-stream"]
