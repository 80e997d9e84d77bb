"""What a source names: modules that it imports, at once or when called, and what its strings could mean."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

CODE = re.compile(r"(?:from\s+(lockstep[\w.]*)\s+import\s+\(?([\w\s,]+)|import\s+(lockstep[\w.]*))")


@dataclass(frozen=True)
class Names:
    imports: frozenset[tuple[str, str]] = frozenset()  # (module, name): ("lockstep.events", "Trace"); "" for none, "*"
    faces: frozenset[tuple[str, str]] = frozenset()  # what a lazy face gives: (name, module that has it)
    words: frozenset[str] = frozenset()  # all identifiers, and strings that are one
    strings: frozenset[str] = frozenset()  # constants, docstrings aside; of an f-string its parts
    paths: frozenset[str] = frozenset()  # "a/b" of ROOT / "a" / "b"


@dataclass
class _Found:
    imports: set[tuple[str, str]] = field(default_factory=set)
    faces: set[tuple[str, str]] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    inner: set[int] = field(default_factory=set)  # nodes that are the beginning of a path that is known already


def names(source: str) -> Names:
    """Of a module, or of a lesson's text source, whose magics are no Python. Nothing of what does not parse."""
    plain = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())
    try:
        tree = ast.parse(plain)
    except (SyntaxError, ValueError):
        return Names()
    found = _Found()
    _walk(tree, found)
    for text in list(found.strings):
        _code(text, found)
    return Names(*map(frozenset, (found.imports, found.faces, found.words, found.strings, found.paths)))


def imports_alone(source: str) -> Names:
    """Of an answer, of which there are two thousand."""
    found = _Found()
    _code(source, found)
    return Names(imports=frozenset(found.imports))


def _walk(tree: ast.Module, found: _Found) -> None:
    lazy = any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        kind = node.__class__
        if kind is ast.Name:
            found.words.add(node.id)  # type: ignore[attr-defined]
        elif kind is ast.Constant:
            _constant(node.value, found)  # type: ignore[attr-defined]
        elif kind is ast.If and _for_types(node.test):  # type: ignore[attr-defined]
            if lazy:
                found.faces |= {(name, module) for child in node.body for module, name in _imported(child)}  # type: ignore[attr-defined]
        else:
            _other(node, kind, found)
            waiting += _children(node)


def _other(node: ast.AST, kind: type[ast.AST], found: _Found) -> None:
    if kind is ast.Attribute:
        found.words.add(node.attr)  # type: ignore[attr-defined]
    elif kind is ast.keyword:
        found.words.add(node.arg or "")  # type: ignore[attr-defined]
    elif kind is ast.alias:
        found.words.update(node.name.split("."))  # type: ignore[attr-defined]
    elif kind is ast.Import or kind is ast.ImportFrom:
        found.imports.update(_imported(node))
    elif (kind is ast.BinOp or kind is ast.Call) and id(node) not in found.inner and (path := _joined(node)):
        found.paths.add(path)
        _skip_inner(node, found)


def _constant(value: object, found: _Found) -> None:
    if isinstance(value, str):
        found.strings.add(value)
        if value.isidentifier():
            found.words.add(value)


def _for_types(test: ast.expr) -> bool:
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Without a docstring, which is read by people."""
    for name in node._fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            if name == "body" and value and _is_docstring(value[0]):
                value = value[1:]
            yield from (child for child in value if isinstance(child, ast.AST))
        elif isinstance(value, ast.AST) and name != "ctx":
            yield value


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from ((node.module, alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)


def _joined(node: ast.AST) -> str:
    """ "course/02_cpu/lab.py" of ``ROOT / "course" / "02_cpu" / "lab.py"``, and of ``joinpath``; what is no constant
    ends it: "course" of ``ROOT / "course" / unit.folder / "lab.py"``."""
    parts = list(_parts(node))
    while parts and parts[0] is None:
        parts.pop(0)
    known = parts[: parts.index(None)] if None in parts else parts
    return "/".join(part.strip("/") for part in known if part)


def _skip_inner(node: ast.AST, found: _Found) -> None:
    while isinstance(node, ast.BinOp | ast.Call):
        node = node.left if isinstance(node, ast.BinOp) else getattr(node.func, "value", node.func)
        found.inner.add(id(node))


def _parts(node: ast.AST) -> Iterator[str | None]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "joinpath":
        yield from _parts(node.func.value)
        for argument in node.args:
            yield from _parts(argument)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        yield None


def _code(text: str, found: _Found) -> None:
    """Programs in strings: what ``python -c`` gets, what a test writes into a file."""
    if "lockstep" not in text or "import" not in text:
        return
    for module, several, alone in CODE.findall(text):
        several = several.replace("\n", ",")
        wanted = [name.split(" as ")[0].strip() for name in several.split(",")]
        found.imports |= {(module or alone, name.split()[0] if name else "") for name in wanted}
        found.words |= {*re.findall(r"[A-Za-z_]\w*", text)}
