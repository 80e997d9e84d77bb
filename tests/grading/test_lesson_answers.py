"""No lesson tells the answer to a prediction before the learner has decided on a number.

It did: just below a field in lesson 05, the next cell's text said that "more than 12.5 % is left over", and 12.5 % was
the answer. Whoever writes the text below does not think of the field above. So the author writes the answer beside the
question, and the build hides it, and looks for it in everything that is open.
"""

from __future__ import annotations

import pytest

from lockstep.grading.lesson_answers import answer_problems, telling
from lockstep.grading.lesson_parts import part
from lockstep.grading.text_notebook import parse

LESSON = """\
# %% [markdown]
# # 05 Title
#
# | Lab | 125 minutes |

# %%
from lockstep import predict, quiz, reconcile

# %% [markdown]
# ## 4. Before · 2 minutes
#
# {far}

# %% [markdown]
# ## 5. Hide · 2 minutes
#
# {above}

# %% lesson="predict last"
predict("last", "{question}", unit="{unit}", answer={answer})

# %% lesson="after last"
reconcile("last", simulated=100 / 8)

# %% [markdown] lesson="reason last"
# **Our reason.** 12.5 %, and 4 all-reduces.

# %% [markdown]
# {below}

# %% lesson="quiz next"
quiz("next", "{quiz}", answer=1, because="12.5 %", wrong={{2: "12.5 %"}})
"""
QUIET = {"far": "A.", "above": "B.", "question": "How much?", "below": "C.", "quiz": "D?"}


def said(answer: float, unit: str, **texts: str) -> list[str]:
    lesson = LESSON.format(**(QUIET | texts), answer=answer, unit=unit)
    return [str(p) for p in answer_problems("course/05", {"lesson": parse(lesson)})]


def test_an_answer_that_nothing_open_tells_is_fine() -> None:
    """The reason and the quiz's answers have it, and they wait."""
    assert said(12.5, "%") == []


@pytest.mark.parametrize("place", ["far", "above", "below", "quiz"])
def test_an_answer_that_can_be_read_is_refused_in_one_sentence(place: str) -> None:
    (problem,) = said(12.5, "%", **{place: "The first layer computes half as long, so more than 12.5 % is left over."})
    where = "above it" if place in ("far", "above") else "below it, on the same screen"
    assert problem.startswith(f'course/05/lesson.py:19: cell "predict last": its answer, 12.5 %, stands {where}: “')
    assert "more than 12.5 % is left over" in problem
    assert "\n" not in problem


def test_a_question_does_not_answer_itself() -> None:
    (problem,) = said(50, "%", question="One of 8 runs at half its speed. How many percent are left?")
    assert "stands in its question: “One of 8 runs at half its speed" in problem


def test_what_is_a_screen_further_down_may_tell() -> None:
    assert said(12.5, "%", below="word " * 200 + "12.5 % is left.") == []
    assert len(said(12.5, "%", below="word " * 150 + "12.5 % is left.")) == 1


def test_a_short_number_counts_with_its_unit_and_near_by() -> None:
    assert len(said(4, "all-reduces", above="A block has four all-reduces.")) == 1
    assert len(said(4, "all-reduces", below="It has 4 short all-reduces.")) == 1
    assert said(4, "all-reduces", above="On 4 ranks.") == []
    assert said(4, "all-reduces", far="A block has four all-reduces.") == []
    assert len(said(2, "times", above="It takes twice as long.")) == 1


def test_a_table_of_minutes_tells_nothing() -> None:
    assert said(125, "minutes") == []


def test_an_answer_is_asked_for_where_it_is_the_same_on_all_machines() -> None:
    lesson = LESSON.format(**QUIET, answer=3, unit="%").replace(", answer=3", "")
    assert "write answer=…" in str(*answer_problems("x", {"lesson": parse(lesson)}))
    measured = lesson.replace("simulated=", "measured=")
    assert list(answer_problems("x", {"lesson": parse(measured)})) == []


def test_the_notebook_does_not_have_the_answer() -> None:
    parted = part("x", {"lesson": parse(LESSON.format(**QUIET, answer=-1.25, unit="%"))})
    for cells in (parted.seen, parted.complete):
        (asked,) = (c.source for c in cells["lesson"] if c.source.startswith("predict("))
        assert asked == 'predict("last", "How much?", unit="%")'


@pytest.mark.parametrize(
    ("text", "answer", "told"),
    [
        ("sends 197 MB", 196.9, True),
        ("sends 200 MB", 196.9, False),
        ("takes 1,045 GB", 1045, True),
        ("about 10.5 times", 10.5, True),
        ("of 16 x 16 times", 16, False),
        ("section 10.5.2 of it", 10.52, False),
        ("in 2,048 steps", 48, False),
    ],
)
def test_a_number_may_be_rounded(text: str, answer: float, told: bool) -> None:
    assert bool(telling(text, answer, "times", near=True)) == told
