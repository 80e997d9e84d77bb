"""A lesson that lets the learner act, by keyboard alone: commit, give a reason, write a line, answer a question."""

from __future__ import annotations

from collections.abc import Callable

from harness import Lab
from playwright.sync_api import Locator


def until(lab: Lab, holds: Callable[[], object]) -> None:
    """Wait for what an action leads to: the browser runs other cells, too."""
    for _ in range(200):
        if holds():
            break
        lab.page.wait_for_timeout(100)
    lab.wait_until_idle()


def test_a_learner_acts_by_keyboard(lab: Lab, acting: str) -> None:
    lab.open(acting)
    lab.run_all()
    assert lab.errors() == {}
    asked, held = lab.find("predict("), lab.find("ratio = 63")
    reason, second = lab.find("star-over-tree.reason"), lab.find('print(f"second')
    lab.look(held, "acting-closed")
    assert lab.page.locator(".jp-CodeCell .cm-lineWrapping").count() > 0, "long lines of code wrap in narrow windows"
    assert "Show it without a prediction" in lab.output(held).inner_text()

    field = lab.output(asked).get_by_label("64 ranks. How many times as long as the tree does the star take? in times")
    field.focus()
    lab.page.keyboard.type("about ten")
    lab.page.keyboard.press("Enter")
    lab.output(asked).get_by_role("status").get_by_text("is not a number").wait_for()
    field.fill("8")
    lab.page.keyboard.press("Enter")
    until(lab, lambda: stream(lab, second))
    assert "What waited for it stands below." in lab.output(asked).get_by_role("status").inner_text()
    assert focused(lab) == "INPUT", "the focus stays where it was"
    assert stream(lab, second) == "second, with 10.5\n"
    assert lab.output(held).locator("svg").count() > 0
    assert "Our reason" not in str(lab.cells())
    lab.look(asked, "acting-committed")

    lab.output(held).get_by_role("textbox").focus()
    lab.page.keyboard.type("63 messages leave rank 0, one after another.")
    lab.page.keyboard.press("Tab")
    lab.page.keyboard.press("Enter")
    until(lab, lambda: "Our reason" in lab.output(reason).inner_text())
    assert "Our reason. The star takes 63 rounds" in lab.output(reason).inner_text()
    lab.look(reason, "acting-reason")

    turn, use = lab.find("def tree_rounds"), lab.find("rounds for 100")
    assert "That is the star." in said_to(lab, turn, "K - 1")
    assert lab.output(turn).get_by_role("button").count() == 0
    said_to(lab, turn, "K")
    said_to(lab, turn, "K + 1")
    assert lab.output(turn).get_by_role("button", name="Show a solution").count() == 1
    lab.look(turn, "acting-wrong")
    assert said_to(lab, turn, "(K - 1).bit_length()") == "Right: ⌈log₂ K⌉ rounds. (10 cases)"
    until(lab, lambda: stream(lab, use).startswith("rounds"))
    assert stream(lab, use) == "rounds for 100 ranks: 7\n"

    quiz, which = lab.find('"messages"'), lab.find('"which"')
    question = lab.output(quiz).get_by_label("6 ranks. How many messages does the tree send in all? in messages")
    for given, told in {"3": "Not yet. That is the number of rounds.", "5": "Right. Each rank but the root"}.items():
        question.focus()
        question.fill(given)
        lab.page.keyboard.press("Enter")
        lab.output(quiz).get_by_role("status").get_by_text(told).wait_for()
    lab.output(which).get_by_role("button", name="tree").focus()
    lab.page.keyboard.press("Enter")
    lab.output(which).get_by_role("status").get_by_text("Not yet. In the tree, whoever has").wait_for()
    lab.look(which, "acting-quiz")
    assert lab.errors() == {}
    assert lab.output(which).get_by_role("button", name="tree").get_attribute("aria-pressed") == "true"
    assert focused(lab) == "BUTTON", "the focus stays where it was"

    for cell, kept in {
        asked: "Your prediction: 8 times",
        held: "Your reason: 63 messages leave rank 0, one after another.",
        turn: "Right: ⌈log₂ K⌉ rounds. (10 cases)",
        quiz: "Your answer: 5 Right. Each rank but the root",
        which: "● tree Not yet.",
    }.items():
        assert kept in stored(lab, cell), "the notebook's file has it as it stands"


def stored(lab: Lab, cell: int) -> str:
    """What a cell's outputs say in the notebook's file, where there is neither kernel nor browser."""
    return " ".join("".join(o.get("data", {}).get("text/plain", "")) for o in lab.cells()[cell]["outputs"])


def said_to(lab: Lab, cell: int, line: str) -> str:
    """Write this line in the learner's cell, run it; the verdict."""
    lab.write(cell, f"def tree_rounds(K):\n    return {line}\n\n\nyour_turn(tree_rounds)")
    lab.run(cell)
    until(lab, lambda: status(lab.output(cell)))
    return status(lab.output(cell))


def status(output: Locator) -> str:
    return output.get_by_role("status").inner_text()


def focused(lab: Lab) -> str:
    name: str = lab.page.evaluate("() => document.activeElement.tagName")
    return name


def stream(lab: Lab, cell: int) -> str:
    """What the cell has printed."""
    return "".join("".join(o["text"]) for o in lab.cells()[cell]["outputs"] if o["output_type"] == "stream")
