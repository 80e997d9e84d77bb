"""A page for each figure, alive, and one with all of their still pictures. The samples are those of the tests."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from website.figures import Shared

ASKS = {"board", "predict", "reconcile"}  # they ask a kernel, and are still pictures here


def samples(root: Path) -> Mapping[str, Callable[[], Any]]:
    sys.path[:0] = [str(root / "tests" / "show"), str(root / "tests")]
    from all_figures import FIGURES

    return FIGURES


def pages(figures: Mapping[str, Callable[[], Any]], shared: Shared) -> Mapping[str, str]:
    """Path → text, relative to the site's source: the gallery, and of each figure its page and its still picture."""
    made: dict[str, str] = {}
    for name, draw in figures.items():
        figure = draw()
        words = figure.caption() if hasattr(figure, "caption") else ""
        drawing = figure.svg()
        html = figure.html() if hasattr(figure, "html") else ""
        shown = shared.page(html, depth=1) if html else _image(f"{_file(name)}.svg", words or name)
        made[f"_static/gallery/{_file(name)}.svg"] = _on_paper(drawing)
        made[f"gallery/{_file(name)}.md"] = _page(name, shown)
    listed = "\n".join(map(_file, figures))
    cards = "\n".join(
        f'<a class="ls-card" href="{_file(name)}.html">'
        f'<img loading="lazy" alt="" src="../_static/gallery/{_file(name)}.svg">'
        f"<span>{escape(name)}</span></a>"
        for name in figures
    )
    made["gallery/index.md"] = _FRONT.format(cards=cards, listed=listed)
    return made


_FRONT = """\
# All figures

Each of them, with sample values. Choose one: it moves without a kernel and without network.

```{{raw}} html
<div class="ls-cards">
{cards}
</div>
```

:::{{toctree}}
:hidden:

{listed}
:::
"""


def _file(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def _page(name: str, shown: str) -> str:
    kind = name.split(",")[0]
    asks = "\nThis one asks its kernel: here it is a still picture.\n" if kind in ASKS else ""
    return f"# {name}\n\n`lockstep.show`{asks}\n\n{raw(shown)}\n"


def raw(html: str) -> str:
    """HTML as it is, in Markdown."""
    return f"````````{{raw}} html\n{html}\n````````"


def _image(file: str, words: str) -> str:
    return f'<img class="ls-still" alt="{escape(words)}" src="../_static/gallery/{file}">'


def _on_paper(drawing: str) -> str:
    """A drawing as a file of its own is seen on the paper that its colours are made for."""
    return (
        drawing if "xmlns=" in drawing[:300] else drawing.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    )
