"""A figure that asks its kernel: a field for a number, a board, a question. No other figure needs Jupyter's widgets."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import anywidget
import traitlets
from IPython.display import display, update_display

from lockstep.show.figure import bundle, page, style


class Figure(anywidget.AnyWidget):
    """A field that asks its kernel: a widget in the browser as long as the kernel is there, a still picture otherwise.

    A subclass sets ``_esm = script("its-file")``. Its model reaches the page separately from the output (``initialize``
    in ``browser.js``), so that no widget's view is stored in the notebook's file. What is stored is the still picture,
    under an id: ``keep`` renews it there when something was done.
    """

    _css = style()
    _key = traitlets.Unicode().tag(sync=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        key = uuid4().hex
        super().__init__(*args, _key=key, model_id=key, **kwargs)
        self._displayed = False

    def svg(self) -> str:
        """The figure without a browser: one SVG element, with title and description."""
        raise NotImplementedError

    def caption(self) -> str:
        """The figure in a sentence: its alternative text."""
        raise NotImplementedError

    def html(self) -> str:
        """The figure for a page, live as long as its kernel is."""
        return page(self.svg(), self.caption(), str(self._esm), key=self._key)

    def keep(self) -> None:
        """Store the figure as it stands in the notebook's file, too. In the page it lives on, and keeps the focus.

        A page that was loaded anew does not know the id any more: its model finds the output by itself (``store`` in
        ``browser.js``)."""
        if self._displayed:
            stands = self._repr_mimebundle_()[0]
            update_display(stands, display_id=self._key, raw=True)  # type: ignore[no-untyped-call]
            self.send({"kept": stands})

    def _ipython_display_(self) -> None:
        self._displayed = True
        display(self._repr_mimebundle_()[0], display_id=self._key, raw=True)  # type: ignore[no-untyped-call]

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return bundle(self.svg(), self.caption(), self.html()), {}
