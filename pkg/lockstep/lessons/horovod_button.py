"""horovod_ready(): is Horovod here? If not, a button builds it."""

from __future__ import annotations

from threading import Thread
from typing import Any

from lockstep.errors import LockstepError
from lockstep.lessons.curtain import Curtain
from lockstep.tally import Pace
from lockstep.with_horovod.available import ANEW, MISSING, REMEDY, available, mismatch, obstacle, version
from lockstep.with_horovod.installing import MINUTES, provide

OFFER = f"Build it: about {MINUTES} minutes on two cores"
AGAIN = "Try again"
READY = "Horovod {version} is ready."
NOW = "Run the cells below again."
RESTART = "Restart the kernel, which knew another one; then run the cells."


class Builder(Curtain):
    """Says whether Horovod is here, and has a button that builds it. Its words change while that goes on."""

    def __init__(self) -> None:
        lacking = fault()
        super().__init__(why=lacking or READY.format(version=version()), offer=OFFER if lacking else "", act=self.begin)
        self.label = "Horovod"
        self.after = RESTART if available() else NOW
        self.work: Thread | None = None

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and content.get("show") is True and self.offer:
            self._act()

    def begin(self) -> None:
        """Build in a thread of its own; the kernel can run cells meanwhile."""
        self.offer = ""
        self.work = Thread(target=self._build, daemon=True)
        self.work.start()

    def _build(self) -> None:
        pace = Pace()

        def tell(what: str, done: float) -> None:
            self.why = f"{what}: {100 * done:.0f} % {pace.left(done)}".rstrip() if done else f"{what} …"

        try:
            provide(tell)
        except LockstepError as error:
            with self.hold_sync():
                self.why, self.offer = " ".join(str(error).split()), AGAIN
        else:
            self.why = f"{READY.format(version=version())} {self.after}"


def horovod_ready() -> Builder:
    """Whether this kernel can use Horovod, in one sentence; where it cannot, with a button that builds it."""
    return Builder()


def fault() -> str:
    """Why Horovod cannot be used here, and what to do; "" if it can."""
    import torch

    if not available():
        return f"{MISSING} {obstacle() or REMEDY}"
    return f"{differs} {ANEW}" if (differs := mismatch(torch.__version__)) else ""
