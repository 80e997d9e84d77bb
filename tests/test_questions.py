"""What counts as asking in vain."""

from lockstep.record.polls import PATIENCE, Questions


def told(answers: str) -> list[object]:
    """n: no, y: yes, o: something else was done in between."""
    said: list[object] = []
    questions = Questions(lambda i, in_vain: said.append((i, in_vain)), said.append)
    for answer in answers:
        questions.over() if answer == "o" else questions.asked([7], answer == "y")
    return said


def test_many_questions_in_a_row() -> None:
    assert told("n" * (PATIENCE - 1)) == []
    assert told("n" * PATIENCE) == [(7, True)]


def test_the_journal_hears_that_it_goes_on() -> None:
    assert told("n" * 3 * PATIENCE) == [(7, True), b"", b""]


def test_an_answer_or_something_else_ends_it() -> None:
    assert told("n" * PATIENCE + "y") == [(7, True), (7, False)]
    assert told("n" * PATIENCE + "o" + "n" * (PATIENCE - 1)) == [(7, True), (7, False)]
    assert told(("n" * (PATIENCE - 1) + "o") * 5) == []
