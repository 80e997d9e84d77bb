"""A lesson in a real kernel: closed, opened by acting, after a restart, and with everything open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from notebook_kernel import FOLDER, Front

from lockstep import progress
from lockstep.lessons.behind import load

PREDICT, FIRST, REASON = "predict(", "ratio = 63", 'lessons.told("star-over-tree.reason'
SECOND, TURN, USE = 'print(f"second', "def tree_rounds", "rounds for 100"
COMMIT = 'predict("star-over-tree", "64 ranks. …?", unit="times", value=8)'
RIGHT = "def tree_rounds(K):\n    return (K - 1).bit_length()\n\nyour_turn(tree_rounds)"
WRONG = "def tree_rounds(K):\n    return K - 1\n\nyour_turn(tree_rounds)"


@pytest.fixture
def opened(sample: Path) -> Iterator[Callable[[], Front]]:
    """Opens the sample lesson in a new kernel; each call is a restart."""
    fronts: list[Front] = []

    def start() -> Front:
        fronts.append(Front(sample / FOLDER / "lesson.ipynb"))
        fronts[-1].run_all()
        return fronts[-1]

    yield start
    for front in fronts:
        front.close()


@pytest.mark.slow
def test_run_all_goes_to_the_end_and_tells_nothing_that_is_behind(opened: Callable[[], Front], sample: Path) -> None:
    front = opened()
    assert front.errors == {}
    assert front.outputs[front.find("the end")] == ["the end\n"]
    assert front.outputs[front.find(FIRST)] == ["Commit your prediction above. Then this runs by itself."]
    assert front.outputs[front.find(SECOND)] == front.outputs[front.find(REASON)] == []
    seen = json.dumps([[c.source for c in front.cells], front.outputs], ensure_ascii=False)
    behind = load("acting")
    hidden = [*behind.told.values(), *(t.solution.splitlines()[-1].strip() for t in behind.turns.values())]
    hidden += [line for t in behind.turns.values() for line in t.behind.splitlines() if len(line) > 20]
    hidden += [q.because for q in behind.quizzes.values()]
    hidden += [said for q in behind.quizzes.values() for _, said in q.wrong]
    assert len(hidden) > 12
    assert [text for text in hidden if json.dumps(text, ensure_ascii=False)[1:-1] in seen] == []


@pytest.mark.slow
def test_what_waits_runs_under_its_own_cell_when_the_learner_commits(opened: Callable[[], Front]) -> None:
    front = opened()
    front.run(front.find(PREDICT), COMMIT)
    front.settle()
    shown = front.outputs[front.find(FIRST)]
    assert shown[0] == "first of those that wait\n"
    assert "predicted 8 times, simulated 10.5 times" in shown[1]
    assert front.outputs[front.find(SECOND)] == ["second, with 10.5\n"]
    assert "nobody waits" in front.outputs[front.find('told("star-over-tree-1')][0]
    assert front.outputs[front.find(REASON)] == ["Write your reason above. Then ours appears here."]

    front.run(front.find(FIRST), 'reconcile("star-over-tree", simulated=ratio, reason="63 messages leave rank 0")')
    front.settle()
    assert "**Our reason.** The star takes 63 rounds" in front.outputs[front.find(REASON)][0]
    assert front.errors == {}


@pytest.mark.slow
def test_a_second_run_all_keeps_the_order_and_says_why_again(opened: Callable[[], Front]) -> None:
    """The sentence vanished: cells of the first run still waited, and so no cell was the first."""
    front = opened()
    front.run_all()
    assert front.outputs[front.find(FIRST)] == ["Commit your prediction above. Then this runs by itself."]
    front.run(front.find(SECOND))
    front.run(front.find(PREDICT), COMMIT)
    front.settle()
    assert front.outputs[front.find(SECOND)] == ["second, with 10.5\n"]
    assert front.errors == {}


@pytest.mark.slow
def test_a_turn_is_judged_in_words_and_then_used(opened: Callable[[], Front]) -> None:
    front = opened()
    turn, use = front.find(TURN), front.find(USE)
    assert front.outputs[turn] == ["Not written yet. Replace the ... by your line, and run the cell."]
    (said,) = front.run(turn, WRONG)
    assert "tree_rounds(K=4) gives 3; it should be 2. That is the star." in said
    (said,) = front.run(turn, "def tree_rounds(K):\n    return 1 / 0\n\nyour_turn(tree_rounds)")
    assert "ZeroDivisionError: division by zero (in line 2: return 1 / 0)" in said
    assert front.outputs[use] == []
    (said,) = front.run(turn, RIGHT)
    assert said == "Right: ⌈log₂ K⌉ rounds. (10 cases)"
    front.settle()
    assert front.outputs[use] == ["rounds for 100 ranks: 7\n"]
    assert front.errors == {}


@pytest.mark.slow
def test_all_of_it_stays_open_after_a_restart_and_what_was_shown_serves(opened: Callable[[], Front]) -> None:
    progress.lock_prediction("acting.star-over-tree", 8, "times", "64 ranks. …?")
    progress.open_up("acting.tree_rounds", how="shown")
    front = opened()
    assert front.outputs[front.find(SECOND)] == ["second, with 10.5\n"]
    assert "predicted 8 times" in front.outputs[front.find(FIRST)][1]
    assert front.outputs[front.find(TURN)][0].startswith(
        "You had a solution shown. It runs below until yours is right."
    )
    assert front.outputs[front.find(USE)] == ["rounds for 100 ranks: 7\n"]
    (said,) = front.run(front.find(TURN), WRONG)
    assert "That is the star." in said
    assert "until yours is right" in said
    assert front.run(front.find(USE)) == ["rounds for 100 ranks: 7\n"]
    assert front.errors == {}


@pytest.mark.slow
def test_who_has_it_shown_sees_two_bars_and_our_reason(opened: Callable[[], Front]) -> None:
    front = opened()
    front.run(front.find(PREDICT), f"field = {front.cells[front.find(PREDICT)].source}")
    front.run(0, 'from lockstep.lessons.session import current; current().open("star-over-tree", "shown")')
    front.settle()
    assert "64 ranks. How many times as long as the tree does the star take? simulated 10.5 times." in str(
        front.outputs[front.find(FIRST)]
    )
    assert "Our reason" in front.outputs[front.find(REASON)][0]
    assert "acting.star-over-tree" not in progress.predictions()
    (said,) = front.run(0, "field.message, field.locked, field.shown")
    assert said == "('You had this shown without a prediction.', True, '')"
    front.run(0, "field._handle_custom_msg({'commit': '8'}, [])")
    assert "acting.star-over-tree" not in progress.predictions(), "after the answer a number is no prediction"


@pytest.mark.slow
def test_a_button_that_is_heard_in_another_thread_keeps_the_order(opened: Callable[[], Front]) -> None:
    """ipykernel 7 hears widgets in a thread of their own: the next cell was run before those that waited above it."""
    front = opened()
    press = "threading.Thread(target=lambda: current().open('star-over-tree', 'shown'))"
    front.run(0, f"import threading\nfrom lockstep.lessons.session import current\npress = {press}")
    front.run(0, "press.start(); press.join()")
    assert front.run(front.find("the end"), "%%after star-over-tree\nprint(ratio)") == ["10.5\n"]
    front.settle()
    assert front.outputs[front.find(SECOND)] == ["second, with 10.5\n"]
    assert front.errors == {}


@pytest.mark.slow
def test_a_solution_that_is_shown_runs_what_waits_and_stands_below_the_learners_cell(
    opened: Callable[[], Front],
) -> None:
    front = opened()
    front.run(front.find(TURN), WRONG.replace("your_turn(", "verdict = your_turn("))
    front.run(0, "verdict._handle_custom_msg({'show': True}, [])")
    front.settle()
    assert front.outputs[front.find(USE)] == ["rounds for 100 ranks: 7\n"]
    assert "return (K - 1).bit_length()" in front.run(0, "verdict.solution")[0]
    assert "One way to write it." in front.run(0, "verdict.said")[0]
    assert progress.opened() == {"acting.tree_rounds": "shown"}


@pytest.mark.slow
def test_a_function_that_the_lesson_does_not_ask_for(opened: Callable[[], Front]) -> None:
    front = opened()
    front.run(0, "your_turn(len)")
    assert "The lesson asks for no function 'len'." in front.errors[0]
    (said,) = front.run(front.find(TURN), "tree_rounds = lambda K: (K - 1).bit_length()\nyour_turn(tree_rounds)")
    assert said.startswith("Right: ")


@pytest.mark.slow
def test_with_everything_open_all_of_it_runs(opened: Callable[[], Front], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_OPEN", "all")
    front = opened()
    assert front.errors == {}
    seen = json.dumps(front.outputs, ensure_ascii=False)
    assert "by itself" not in seen
    assert "Not written yet" not in seen
    assert "Our reason" in seen
    assert "rounds for 100 ranks: 7" in seen
    assert "The answer is 5 messages." in seen


@pytest.mark.slow
def test_a_cell_that_fails_stops_those_that_need_it(opened: Callable[[], Front]) -> None:
    front = opened()
    front.run(front.find(FIRST), "%%after star-over-tree\nratio = missing")
    front.run(front.find(PREDICT), COMMIT)
    front.settle()
    assert front.errors == {front.find(FIRST): "NameError: name 'missing' is not defined"}
    assert "one above it failed" in front.outputs[front.find(SECOND)][0]
    front.run(front.find(FIRST))
    assert front.run(front.find(SECOND)) == ["second, with 10.5\n"]


def test_the_built_notebook_has_the_questions_as_text(sample: Path) -> None:
    cells = nbformat.read(sample / FOLDER / "lesson.ipynb", as_version=4).cells
    text = "\n".join(c.source for c in cells)
    for words in ("64 ranks. How many times", "6 ranks. How many messages", "Which of the two keeps one card busy?"):
        assert words in text


@pytest.mark.slow
def test_what_was_done_is_stored_under_its_own_cell(opened: Callable[[], Front]) -> None:
    """A committed prediction was saved as "No prediction is committed", and an answered question as a bare one."""
    front = opened()
    predict, quiz = front.find(PREDICT), front.find('"messages"')
    front.run(predict, f"field = {front.cells[predict].source}\nfield")
    assert "no prediction yet" in front.outputs[predict][0]
    front.run(quiz, f"asked = {front.cells[quiz].source}\nasked")
    front.run(front.find("the end"), "field.commit('8'); asked.answer('3')")
    front.settle()
    assert front.outputs[predict][0].endswith("Your prediction: 8 times")
    assert "Your answer: 3 Not yet. That is the number of rounds." in front.outputs[quiz][0]
    again = opened()
    assert "Your answer: 3 Not yet." in again.outputs[quiz][0], "it is kept across a restart, too"
    assert again.errors == {}
