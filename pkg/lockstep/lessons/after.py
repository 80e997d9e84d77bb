"""``%%after NAME``: a cell that waits until NAME is open, and then runs by itself.

A cell cannot wait while it runs, because the kernel hears no button then; and Python cannot skip a body. So a cell
that waits is a cell magic, which keeps the text for later. Once NAME is open, the line is as good as not there.
"""

from __future__ import annotations

from IPython import get_ipython
from IPython.display import display

from lockstep.lessons.curtain import Curtain
from lockstep.lessons.running import watch
from lockstep.lessons.session import REASON, Waiting, current, start

MARK = "%%after "
_WHY = {
    "prediction": ("Commit your prediction above. Then this runs by itself.", "Show it without a prediction"),
    "reason": ("Write your reason above. Then ours appears here.", "Show it without mine"),
    "turn": ("This runs by itself when your line above is right.", "Show a solution and go on"),
}


def begin(topic: str, everything: bool = False) -> None:
    """Make this kernel run the lesson of ``topic``; the build writes the call into a lesson's first code cell.

    With ``everything`` nothing waits. Raises UsageError if what is behind the lesson is not installed.
    """
    start(topic, everything)
    shell = get_ipython()
    if shell is not None and _let_through not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(_let_through)
        shell.register_magic_function(_hold, "cell", "after")
        watch(shell)
        shell.register_magic_function(lambda name: current().catch_up(name), "line", "what_waits_for")


def told(key: str) -> None:
    """Show a paragraph that the build took out of the notebook, into the lesson's JSON file."""
    missing = "This paragraph has been rewritten since you took your copy of the lesson. Take a new one to read it."
    text = current().behind.told.get(key, missing)
    display({"text/markdown": text, "text/plain": text}, raw=True)  # type: ignore[no-untyped-call]


def _let_through(lines: list[str]) -> list[str]:
    """An open name's cell runs unchanged, after all that still waits above it; line numbers stay true."""
    if not lines or not lines[0].startswith(MARK):
        return lines
    name = lines[0].removeprefix(MARK).strip()
    if not current().is_open(name):
        return lines
    return [f"get_ipython().run_line_magic('what_waits_for', {name!r})\n", *lines[1:]]


def _hold(name: str, code: str) -> None:
    """A reason is asked for only when its prediction is open: until then the cell waits for that."""
    prediction = name.removesuffix(REASON)
    if name.endswith(REASON) and not current().is_open(prediction):
        name, code = prediction, f"{MARK}{name}\n{code}"
    parent = get_ipython().get_parent()
    cell = parent.get("metadata", {}).get("cellId") or code
    if current().hold(name, cell, Waiting(code, parent)):
        why, offer = _WHY[_kind(name)]
        display(Curtain(why, offer, lambda: current().open(name, "shown")))  # type: ignore[no-untyped-call]


def _kind(name: str) -> str:
    return "reason" if name.endswith(REASON) else "turn" if name in current().behind.turns else "prediction"
