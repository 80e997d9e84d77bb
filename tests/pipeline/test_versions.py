"""Old weights: which version a pass uses, and when a version may go, beside a stage that is played step by step."""

import pytest

from lockstep.experiments.pipeline.one_rank import versions_seen
from lockstep.pipeline.schedule_costs import weight_versions
from lockstep.pipeline.schedules import pipedream as schedule
from lockstep.pipeline.weight_stashing import mistake, pipedream, weight_version

SIZES = [(s, p, m) for p in (1, 2, 4) for s in range(p) for m in (1, 3, 9)]


@pytest.mark.parametrize(("s", "p", "m"), SIZES)
def test_drops(s: int, p: int, m: int) -> None:
    """Nothing is dropped that is needed, and nothing is kept that is not, as ``weight_versions`` counts."""
    alive, used, most, stream = {0}, dict[int, int](), 1, pipedream(s, p, m)
    for n, (kind, i) in enumerate(stream):
        if kind == "F":
            used[i] = max(alive)
        elif kind == "B":
            assert used.pop(i) in alive
        elif kind == "U":
            alive.add(max(alive) + 1)
        else:
            alive.remove(i)
            assert i < max(alive)
            assert i not in used.values()
        most = most if stream[n + 1 : n + 2] and stream[n + 1][0] == "drop" else max(most, len(alive))
    assert alive == {m}
    assert most == weight_versions(schedule(s, p, m))


@pytest.mark.parametrize(("s", "p", "m"), SIZES)
def test_versions_are_those_that_a_played_stage_uses(s: int, p: int, m: int) -> None:
    seen = versions_seen(schedule(s, p, m))
    assert seen == {i: weight_version(s, p, i, "F", "stashing") for i in range(m)}
    assert seen == {i: weight_version(s, p, i, "B", "stashing") for i in range(m)}
    updates, at_backward = 0, {}
    for kind, i in pipedream(s, p, m):
        at_backward |= {i: updates} if kind == "B" else {}
        updates += kind == "U"
    assert at_backward == {i: weight_version(s, p, i, "B", "none") for i in range(m)}
    on_the_first = versions_seen(schedule(0, p, m))
    assert on_the_first == {i: weight_version(s, p, i, "B", "vertical sync") for i in range(m)}


def test_the_first_mistake_is_told() -> None:
    right = pipedream(0, 2, 3)
    assert mistake(right, 0, 2, 3) == ""
    assert mistake(right[:-1], 0, 2, 3) == "ends after 11 pairs; ('drop', 2) has to follow."
    assert mistake([*right, ("U", 3)], 0, 2, 3) == "goes on after pair 11, the last one, with ('U', 3)."
    early = [*right[:3], ("drop", 0), *right[3:]]
    assert "F of 1 has used version 0, and B of 1 is still to come." in mistake(early, 0, 2, 3)
    late = [pair for pair in right if pair != ("drop", 0)]
    assert "Version 0 is old there, and no minibatch that waits for its B has used it" in mistake(late, 0, 2, 3)
    newest = [*right[:4], ("drop", 1), *right[4:]]
    assert "Version 1 is the newest one there." in mistake(newest, 0, 2, 3)
    assert "There is no version 7 there." in mistake([*right[:4], ("drop", 7)], 0, 2, 3)
    assert mistake([("B", 0)], 0, 2, 3) == "has ('B', 0) as pair 0, counted from 0. ('F', 0) comes first."
    assert mistake([("F", 0), ("F", 1), ("F", 2), ("F", 3)], 0, 4, 3).endswith(
        "There is no minibatch 3; ('B', 0) comes there."
    )
