"""The output of the first cell that waits: the reason, and a button that opens it all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from lockstep.lessons.words import Words, module

OPEN = "This is open now. Is nothing here? Then run this cell again."  # as after the page was loaded anew


class Curtain(Words):
    """``why`` this waits, and a button that ``offer`` names; ``act`` is what it does."""

    _esm = module("curtain")
    label = traitlets.Unicode("This cell waits").tag(sync=True)
    why = traitlets.Unicode().tag(sync=True)
    offer = traitlets.Unicode().tag(sync=True)

    def __init__(self, why: str, offer: str, act: Callable[[], None]) -> None:
        super().__init__(why=why, offer=offer)
        self._act = act
        self.on_msg(self._hear)

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and content.get("show") is True:
            self.why, self.offer = OPEN, ""
            self._act()

    def paragraphs(self) -> list[str]:
        return [self.why]
