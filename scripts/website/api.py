"""The public names, from their signatures and docstrings. Sphinx need not import Lockstep."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from lockstep.grading import glossary


def modules(root: Path) -> list[str]:
    """``lockstep``, its figures and errors, and the techniques: the packages that the glossary has."""
    return ["lockstep", "lockstep.show", "lockstep.errors", *(f"lockstep.{name}" for name in techniques(root))]


def techniques(root: Path) -> list[str]:
    return sorted(folder.name for folder, _ in glossary.techniques(root))


def pages(root: Path) -> Mapping[str, str]:
    """Path → Markdown, relative to the site's source."""
    named = modules(root)
    made = {f"api/{name}.md": page(importlib.import_module(name)) for name in named}
    listed = "\n".join(named)
    made["api/index.md"] = f"# The library's public names\n\n:::{{toctree}}\n:maxdepth: 1\n\n{listed}\n:::\n"
    return made


def page(module: ModuleType) -> str:
    """A module: what it says of itself, and each of its public names."""
    body = "\n\n".join(_entry(name, value) for name, value in public(module))
    return f"# {module.__name__}\n\n:::{{py:module}} {module.__name__}\n:::\n\n{_text(module)}\n\n{body}\n"


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    for name in names:
        value = getattr(module, name)
        if callable(value):
            yield name, value


def _entry(name: str, value: Any) -> str:
    kind = "exception" if _is_error(value) else "class" if inspect.isclass(value) else "function"
    body = _text(value)
    return f"::::::{{py:{kind}}} {name}{signature(value)}\n\n{body}\n::::::"


def signature(value: Any) -> str:
    """As it is written, without the addresses of defaults."""
    if _is_error(value):
        return ""
    try:
        written = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    named = [
        p.replace(annotation=_Plain(p.annotation)) if isinstance(p.annotation, str) else p
        for p in written.parameters.values()
    ]
    result = written.return_annotation
    told = str(
        written.replace(parameters=named, return_annotation=_Plain(result) if isinstance(result, str) else result)
    )
    return re.sub(r"<(?:function|class|object)?\s*'?([\w.]+)[^>]*>", r"\1", told)


class _Plain(str):
    """An annotation that was never evaluated, without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


def _text(value: Any) -> str:
    """A docstring as Markdown: what ``::`` or four spaces set apart is code; no colon of it begins a directive."""
    written = inspect.getdoc(value) or ""
    lines = [
        line.removesuffix("::") + (":" if line.endswith("::") and line != "::" else "") for line in written.splitlines()
    ]
    return re.sub(r"``([^`]+)``", r"`\1`", "\n".join(lines)).replace(":::", "::\u200b:")
