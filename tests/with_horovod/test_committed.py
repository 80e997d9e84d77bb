"""After how many steps a worker has committed, by what it noted."""

from lockstep.exercises.horovod.survival import committed


def noted(*what: int | str) -> list[dict[str, int | str]]:
    """A number is a step that was begun."""
    return [{"what": w} if isinstance(w, str) else {"what": "step", "step": w} for w in what]


def test_a_commit_belongs_to_the_step_before_it() -> None:
    """Commits after 1, 4 and 7 of 8 steps passed where every third was asked for: only their number was looked at."""
    assert committed(noted(0, "commit", 1, 2, 3, "commit", 4, 5, 6, "commit", 7)) == [1, 4, 7]


def test_a_commit_before_the_first_step_counts_for_nothing_and_a_failure_takes_steps_back() -> None:
    assert committed(noted("commit", 0, 1, "commit", 2, "failed", "reset", 2, 3, "commit")) == [2, 4]
