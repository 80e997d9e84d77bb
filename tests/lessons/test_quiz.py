"""A question is answered in words, and the browser never gets the answer before that."""

from __future__ import annotations

import json
import re

import pytest

from lockstep import progress
from lockstep.checks.score import COLOURS as OF_A_LAB
from lockstep.errors import UsageError
from lockstep.lessons.behind import QuizAnswer
from lockstep.lessons.quiz import UNKNOWN, Quiz, quiz
from lockstep.lessons.session import Session, current, start
from lockstep.lessons.words import COLOURS

NUMBER = QuizAnswer("How many?", 700, "7 rounds of 100 MB.", "MB", wrong=((175, "That is with chunks."),))
CHOICE = QuizAnswer("Which?", "ring", "It saves.", choices=("star", "ring"), wrong=(("star", "It saves nothing."),))


def asked_for(right: QuizAnswer) -> Quiz:
    return Quiz(right, Session("test"), "asked")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("700", "Right. 7 rounds of 100 MB."), ("700 MB", "Right. 7 rounds of 100 MB."), ("7e2", "Right. 7 rounds of"),
        ("705", "Right. 7 rounds of 100 MB."), ("710", UNKNOWN), ("175", "Not yet. That is with chunks."),
        ("", "There is no number in the field yet."), ("about 700", "“about 700” is not a number."),
    ],
)  # fmt: skip
def test_a_number(given: str, said: str) -> None:
    asked = asked_for(NUMBER)
    asked._handle_custom_msg({"given": given}, [])
    assert asked.said.startswith(said)


def test_a_choice() -> None:
    asked = asked_for(CHOICE)
    asked._handle_custom_msg({"given": "star"}, [])
    assert (asked.said, asked.offer) == ("Not yet. It saves nothing.", True)
    asked._handle_custom_msg({"given": "ring"}, [])
    assert (asked.said, asked.offer) == ("Right. It saves.", False)


def test_the_answer_is_shown_after_a_try() -> None:
    asked = asked_for(NUMBER)
    assert not asked.offer
    asked._handle_custom_msg({"given": "1"}, [])
    assert asked.offer
    asked._handle_custom_msg({"tell": True}, [])
    assert (asked.said, asked.offer) == ("The answer is 700 MB. 7 rounds of 100 MB.", False)


@pytest.mark.parametrize("junk", [None, {}, {"given": 3}, {"tell": "yes"}, "given", []])
def test_messages_without_sense_are_ignored(junk: object) -> None:
    asked = asked_for(NUMBER)
    asked._handle_custom_msg(junk, [])
    assert asked.said == ""


def test_the_browser_gets_no_answer_and_a_reader_without_one_gets_the_question() -> None:
    for right in (NUMBER, CHOICE):
        asked = asked_for(right)
        data, _ = asked._repr_mimebundle_()
        everything = json.dumps([asked.get_state(), data], default=str, ensure_ascii=False)
        everything = re.sub("[0-9a-f]{32}", "", everything)  # a model's id may have any three digits
        assert right.because not in everything
        assert "700" not in everything
        assert right.wrong[0][1] not in everything
        assert data["text/plain"].startswith(right.question)
        assert right.question in data["image/svg+xml"]
    assert "○ star ○ ring" in data["text/plain"]


def test_a_question_that_the_lesson_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    start("acting")
    assert quiz("messages").question == "6 ranks. How many messages does the tree send in all?"
    with pytest.raises(UsageError, match="has no question 'massages'"):
        quiz("massages")
    monkeypatch.setenv("LOCKSTEP_OPEN", "all")
    assert quiz("messages").said.startswith("The answer is 5 messages.")
    assert current().topic == "acting"


def test_a_lesson_that_is_not_installed_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="What is behind the lesson 'nowhere' is not installed"):
        start("nowhere")


def test_an_answer_is_seen_and_kept() -> None:
    """An answered question was saved as a bare one, and a restart forgot it."""
    asked = asked_for(CHOICE)
    asked.answer("star")
    assert (asked.state, asked.given) == ("wrong", "star")
    assert COLOURS["wrong"] in asked.svg()
    assert not progress.answers()["test.asked"].right
    asked.answer("ring")
    asked.answer("star")
    assert progress.answers()["test.asked"].right, "once right, it stays so"

    again = asked_for(CHOICE)
    assert (again.state, again.given, again.said) == ("right", "ring", "Right. It saves.")
    assert again.caption() == "Which? ○ star ● ring Right. It saves."
    assert COLOURS["right"] in again.svg()
    assert "✓ Right. It saves." in again.svg()


def test_an_answer_that_was_shown_is_no_right_one() -> None:
    asked = asked_for(NUMBER)
    asked.tell()
    again = asked_for(NUMBER)
    assert (again.state, again.given) == ("told", "")
    assert again.said.startswith("The answer is 700 MB.")
    assert not progress.answers()["test.asked"].right


def test_what_is_no_answer_is_not_judged() -> None:
    asked = asked_for(NUMBER)
    asked.answer("about 700")
    assert (asked.state, progress.answers()) == ("", {})


def test_a_verdict_has_the_colours_of_a_labs_check() -> None:
    assert (COLOURS["right"], COLOURS["wrong"]) == (OF_A_LAB["passed"], OF_A_LAB["wrong"])


def test_one_is_no_plural() -> None:
    """ "The answer is 1 elements." stood below a question of unit 01."""
    asked = asked_for(QuizAnswer("How long?", 1, "A copy was appended to.", "elements"))
    asked.tell()
    assert asked.said == "The answer is 1 element. A copy was appended to."
    seconds = asked_for(QuizAnswer("How long?", 1, "One.", "s"))
    seconds.tell()
    assert seconds.said == "The answer is 1 s. One."
    rate = asked_for(QuizAnswer("How fast?", 1, "One.", "MB/s"))
    rate.tell()
    assert rate.said == "The answer is 1 MB/s. One."


def test_a_large_number_is_written_as_everywhere_else() -> None:
    asked = asked_for(QuizAnswer("Beyond how many?", 36864, "3 · 12,288.", "tokens"))
    asked.tell()
    assert asked.said == "The answer is 36,864 tokens. 3 · 12,288."
