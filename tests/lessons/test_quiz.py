"""A question is answered in words, and the browser never gets the answer before that."""

from __future__ import annotations

import json

import pytest

from lockstep.errors import UsageError
from lockstep.lessons.behind import QuizAnswer
from lockstep.lessons.quiz import UNKNOWN, Quiz, quiz
from lockstep.lessons.session import current, start

NUMBER = QuizAnswer("How many?", 700, "7 rounds of 100 MB.", "MB", wrong=((175, "That is with chunks."),))
CHOICE = QuizAnswer("Which?", "ring", "It saves.", choices=("star", "ring"), wrong=(("star", "It saves nothing."),))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("700", "Right. 7 rounds of 100 MB."), ("700 MB", "Right. 7 rounds of 100 MB."), ("7e2", "Right. 7 rounds of"),
        ("705", "Right. 7 rounds of 100 MB."), ("710", UNKNOWN), ("175", "Not yet. That is with chunks."),
        ("", "There is no number in the field yet."), ("about 700", "“about 700” is not a number."),
    ],
)  # fmt: skip
def test_a_number(given: str, said: str) -> None:
    asked = Quiz(NUMBER)
    asked._handle_custom_msg({"given": given}, [])
    assert asked.said.startswith(said)


def test_a_choice() -> None:
    asked = Quiz(CHOICE)
    asked._handle_custom_msg({"given": "star"}, [])
    assert (asked.said, asked.offer) == ("Not yet. It saves nothing.", True)
    asked._handle_custom_msg({"given": "ring"}, [])
    assert (asked.said, asked.offer) == ("Right. It saves.", False)


def test_the_answer_is_shown_after_a_try() -> None:
    asked = Quiz(NUMBER)
    assert not asked.offer
    asked._handle_custom_msg({"given": "1"}, [])
    assert asked.offer
    asked._handle_custom_msg({"tell": True}, [])
    assert (asked.said, asked.offer) == ("The answer is 700 MB. 7 rounds of 100 MB.", False)


@pytest.mark.parametrize("junk", [None, {}, {"given": 3}, {"tell": "yes"}, "given", []])
def test_messages_without_sense_are_ignored(junk: object) -> None:
    asked = Quiz(NUMBER)
    asked._handle_custom_msg(junk, [])
    assert asked.said == ""


def test_the_browser_gets_no_answer_and_a_reader_without_one_gets_the_question() -> None:
    for right in (NUMBER, CHOICE):
        asked = Quiz(right)
        data, _ = asked._repr_mimebundle_()
        everything = json.dumps([asked.get_state(), data], default=str, ensure_ascii=False)
        assert right.because not in everything
        assert "700" not in everything
        assert right.wrong[0][1] not in everything
        assert data["text/plain"].startswith(right.question)
        assert right.question in data["image/svg+xml"]
    assert "– star – ring" in data["text/plain"]


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
