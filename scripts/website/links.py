"""What leads to a file of the clone leads to its page of the site; a file without a page is named without a link."""

from __future__ import annotations

import os
import posixpath
import re

_CODE = re.compile(r"```.*?```|~~~.*?~~~|(?<!`)`[^`\n]+`(?!`)", re.DOTALL)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^()\s]+)\)")
_ELSEWHERE = re.compile(r"^(?:[a-z]+:|#)")
REPOSITORY = "LOCKSTEP_REPOSITORY"  # where the clone is published: then what has no page leads there
ROOTS = {
    "README.md": "docs/readme.md",
    "CONTRIBUTING.md": "docs/contributing.md",
    "CHANGELOG.md": "docs/changelog.md",
    "course/index.ipynb": "index.md",
}


def page_of(path: str) -> str:
    """The source of the page (relative to the site) of a file of the clone; "" if it has none.

    >>> page_of("course/04_communication/lesson.ipynb"), page_of("labs/04_communication/lab.ipynb")
    ('lessons/04_communication.ipynb', 'exercises/04_communication.md')
    """
    if path in ROOTS:
        return ROOTS[path]
    match path.split("/"):
        case ["course", unit, "lesson.ipynb"]:
            return f"lessons/{unit}.ipynb"
        case ["course", unit, "more.ipynb"]:
            return f"lessons/{unit}_more.ipynb"
        case ["course", unit, "opening.svg"]:
            return f"lessons/{unit}.svg"
        case ["course", unit, name] if name.endswith(".md"):
            return f"lessons/{unit}_{name}"
        case ["labs", unit, "lab.ipynb"]:
            return f"exercises/{unit}.md"
        case ["docs", name] if name.endswith((".md", ".svg", ".png")):
            return path
    return ""


def rewritten(markdown: str, at: str, page: str = "") -> str:
    """The text of the file ``at`` (relative to the clone), with the links of its page, or of another ``page``."""
    shown, code = page or page_of(at), list[str]()

    def hidden(found: re.Match[str]) -> str:
        code.append(found[0])
        return f"\0{len(code) - 1}\0"

    text = _LINK.sub(lambda found: _link(found, at, shown), _joined(_CODE.sub(hidden, markdown)))
    return re.sub(r"\0(\d+)\0", lambda found: code[int(found[1])], text)


def _joined(markdown: str) -> str:
    """A link that is broken over two lines, in one: ``[a long\\nname](file.md)``."""
    return re.sub(r"\[([^\[\]`]*)\n([^\[\]`]*)\]\(", r"[\1 \2](", markdown)


def _link(found: re.Match[str], at: str, shown: str) -> str:
    target = found["to"]
    if _ELSEWHERE.match(target):
        return found[0]
    path, _, anchor = target.partition("#")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(at), path))
    page = page_of(there)
    if page:
        way = posixpath.relpath(page, posixpath.dirname(shown) or ".")
        return f"{found['image']}[{found['text']}]({way}{'#' if anchor else ''}{anchor})"
    if (published := os.environ.get(REPOSITORY)) and not found["image"]:
        return f"[{found['text']}]({published.rstrip('/')}/{there})"
    return found["text"]
