"""The scripts of figures, once for the whole site.

An output of a notebook is complete: each has the style sheet and the script of its kind of figure (``show/figure.py``).
A site would load a lesson's scripts forty times. Here they are files, and a figure's own data alone stay in the page.
They are classic scripts, not modules: a browser loads no module from a disk, and a site must also open from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

_FIGURE = re.compile(
    r'<style>(?P<style>.*?)</style><script type="module">(?P<module>.*?)\n'
    r'live\(render, "(?P<key>[\w-]+)", (?P<state>.*?)\);</script>',
    re.DOTALL,
)
_EXPORT = re.compile(r"^export default \{[^}]*\};\s*$", re.MULTILINE)
FOLDER = "_static/figures"


class Shared:
    """What the figures of a site have in common, in the folder ``to``. A page is ``depth`` folders down."""

    def __init__(self, to: Path) -> None:
        self.to = to
        self._written: set[str] = set()

    def page(self, html: str, depth: int) -> str:
        """A figure's HTML without what is the same in others, or any other HTML as it is.

        Raises ValueError for a figure whose scripts are not where ``show/figure.py`` puts them.
        """
        loaded: set[str] = set()
        thin = _FIGURE.sub(self._replacing("../" * depth, loaded), html)
        if "ls-place" in thin and "<style>" in thin:
            raise ValueError(
                "This figure is not as lockstep.show.figure.page writes it: scripts/website/figures.py follows it."
            )
        return thin

    def _replacing(self, up: str, loaded: set[str]) -> Callable[[re.Match[str]], str]:
        def replaced(found: re.Match[str]) -> str:
            style, kind = self._file(found["style"], "css"), self._file(found["module"], "js")
            parts = [f'<script src="{up}{FOLDER}/{kind}.js"></script>'] if kind not in loaded else []
            loaded.add(kind)
            parts.insert(0, f'<link rel="stylesheet" href="{up}{FOLDER}/{style}.css">')
            parts.append(
                '<script type="module">const { live, render, unpacked } = '
                f'lockstepFigures["{kind}"];\nlive(render, "{found["key"]}", {found["state"]});</script>'
            )
            return "".join(parts)

        return replaced

    def _file(self, text: str, kind: str) -> str:
        """Its name, without the suffix; it is written when it is first asked for."""
        name = sha256(text.encode()).hexdigest()[:12]
        if name not in self._written:
            self.to.mkdir(parents=True, exist_ok=True)
            (self.to / f"{name}.{kind}").write_text(
                text if kind == "css" else _registered(name, text), encoding="utf-8"
            )
            self._written.add(name)
        return name


def _registered(name: str, module: str) -> str:
    """A module as a classic script, which leaves what figures need of it under its name. Twice in a page is once."""
    body, exports = _EXPORT.subn("", module)
    if exports != 1:
        raise ValueError("A figure's module ends with one `export default { … };`.")
    begin = f'(globalThis.lockstepFigures ??= {{}})["{name}"] ??= (() => {{'
    return f"{begin}\n{body}\nreturn {{ live, render, unpacked }};\n}})();\n"
