"""The questions of the inventory as a page of the board: a learner chooses, and the board notes twelve letters."""

from __future__ import annotations

from html import escape

from lockstep.classroom.inventory import LETTERS, Question, questions
from lockstep.classroom.page import filled


def page(form: str, xsrf: str = "", known: bool = False) -> tuple[str, str]:
    """The page of a form, and its Content-Security-Policy. ``known``: a hub says who answers, so there is no code;
    and it wants ``xsrf`` back."""
    text, policy = filled("questions.html", form=form, xsrf=xsrf, known=known)
    return text.replace("@QUESTIONS@", "\n".join(map(_fieldset, questions(form)))).replace("@FORM@", form), policy


def _fieldset(question: Question) -> str:
    name = f"q{question.number}"
    rows = [
        f'<label><input type="radio" name="{name}" value="{letter}"><span>{escape(choice.says)}</span></label>'
        for letter, choice in zip(LETTERS, question.choices, strict=True)
    ]
    rows.append(f'<label><input type="radio" name="{name}" value="-"><span>I do not know</span></label>')
    body = "".join(rows)
    return f"<fieldset><legend>Question {question.number}</legend><p>{escape(question.text)}</p>{body}</fieldset>"
