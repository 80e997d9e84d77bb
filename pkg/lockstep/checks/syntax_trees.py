"""What a function is, its names, comments and layout aside: a tree by which answers are compared.

::

    def total(numbers):              def f(a):
        '''The sum.'''                   b = 0
        result = 0                       for c in a:
        for n in numbers:                    b += c
            result += n                  return b
        return result

These two have one form. Names that an answer makes are numbered as they come. What is imported goes by its last name:
``dist.send``, ``torch.distributed.send`` and ``send`` are the same. Docstrings and annotations do not count. The
functions of its own that an answer calls belong to it.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from lockstep.checks.load import FromFile
from lockstep.checks.needed import needed, statements

ROW = 6  # nodes in a row, by which forms that are not the same are compared
SAME = "name"  # of whatever the answer has named itself, in a row
UNREADABLE = (OSError, TypeError, SyntaxError, ValueError, RecursionError, MemoryError)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Form:
    """``main``: of the function itself; ``helpers``: of what else its author has defined for it; ``nodes``: how many
    they are made of; ``rows``: each few of them in a row, whatever their names."""

    main: str
    helpers: frozenset[str]
    nodes: int
    rows: Counter[str]

    def to_json(self) -> dict[str, Any]:
        return {"main": self.main, "helpers": sorted(self.helpers), "nodes": self.nodes, "rows": dict(self.rows)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Form:
        return cls(data["main"], frozenset(data["helpers"]), data["nodes"], Counter(data["rows"]))

    @property
    def digest(self) -> str:
        """The same for the same form."""
        return _hash(" ".join([self.main, *sorted(self.helpers)]))


def form_of(fn: Any) -> Form | None:
    """Of what a learner has handed to a check; None where it is no plain function, or its text cannot be had."""
    if isinstance(fn, FromFile):
        return form_of_text([(source.text, source.name) for source in fn.sources], fn.name)
    try:
        if not isinstance(_plain(fn), FunctionType):
            return None
        return _form(list(_in_memory(fn, lambda found: found.__module__ == fn.__module__)), _name(fn))
    except Exception:  # it looks at whatever the learner's names stand for, and these may do as they like
        return None


def form_of_library(function: Callable[..., Any]) -> Form | None:
    """Of one of the library's own, with what it calls of the library. None of a plain exercise's: it is a teacher's."""
    return None if isinstance(function, FromFile) else _form_of_library(function)


@cache
def _form_of_library(function: Callable[..., Any]) -> Form | None:
    try:
        found = list(_in_memory(function, lambda called: called.__module__.startswith("lockstep.")))
    except OSError:  # where it was installed without its text
        return None
    return _form(found, _name(function))


def form_of_text(texts: Sequence[tuple[str, str]], name: str) -> Form | None:
    """Of the function ``name`` in these texts, each with its file's or its cell's name. Those that are no Python do not
    count."""
    found = []
    for text, told in texts:
        try:
            found += statements(text, told)
        except UNREADABLE:
            continue
    try:
        return _form([s.node for s in needed(found, name)], name)
    except UNREADABLE:
        return None


def _form(nodes: Sequence[ast.stmt], name: str) -> Form | None:
    defined = {node.name: node for node in nodes if isinstance(node, Definition)}
    main = defined.pop(name, None)
    if not isinstance(main, ast.FunctionDef):
        return None
    imports = dict(pair for node in nodes for pair in _imported(node))
    made = {bound for node in nodes for bound in _made(node)} - set(imports)
    trees = [_Plain(imports, made | set(_bound(node))).visit(node) for node in (main, *defined.values())]
    labels = [list(_labels(tree)) for tree in trees]
    rows = Counter(_hash(" ".join(told[i : i + ROW]))[:8] for told in labels for i in range(len(told) - ROW + 1))
    digests = [_hash(ast.dump(tree)) for tree in trees]
    return Form(digests[0], frozenset(digests[1:]), sum(map(len, labels)), rows)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


# ---- in memory


def _in_memory(function: Any, mine: Callable[[Any], bool]) -> Iterator[ast.stmt]:
    """The text of a function and of all that are ``mine`` among those that it names, after what else its names stand
    for."""
    seen, left = set[str](), [_plain(function)]
    while left:
        found = left.pop()
        if found.__qualname__ in seen:
            continue
        seen.add(found.__qualname__)
        tree = ast.parse(textwrap.dedent(inspect.getsource(found)))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & found.__globals__.keys()
        for name in sorted(names):
            value = found.__globals__[name]
            inner = _plain(value)
            if isinstance(inner, FunctionType) and mine(inner):
                left.append(inner)
            elif isinstance(value, ModuleType):
                yield ast.Import([ast.alias(value.__name__, name)])
            elif isinstance(value, type) or callable(value):
                yield ast.ImportFrom(value.__module__, [ast.alias(_name(value) or name, name)], 0)
            else:
                yield ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
        yield from tree.body


def _plain(function: Any) -> Any:
    """The Python function inside of what numba, or a decorator, has made of one."""
    inner = getattr(function, "py_func", function)
    return inspect.unwrap(inner) if isinstance(inner, FunctionType) else inner


def _name(value: Any) -> str:
    return str(getattr(_plain(value), "__name__", ""))


# ---- names


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(the name in the text, the last name of what it stands for)"""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name.rpartition(".")[2]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, alias.name


def _made(node: ast.stmt) -> Iterable[str]:
    """The names that a statement of the top level makes there."""
    return [node.name] if isinstance(node, Definition) else _bound(node)


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names that a text makes, those inside of its functions, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


class _Plain(ast.NodeTransformer):
    """Makes a definition plain: what it has named itself is numbered. One for each definition."""

    def __init__(self, imports: dict[str, str], made: set[str]) -> None:
        self.imports, self.made = imports, made
        self.numbers: dict[str, str] = {}

    def _told(self, name: str) -> str:
        if name in self.made:
            return self.numbers.setdefault(name, f"{SAME} {len(self.numbers)}")
        return self.imports.get(name, name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._told(node.id), ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self.imports and root.id not in self.made:
            return ast.Name(node.attr, ast.Load())
        return ast.Attribute(self.visit(node.value), node.attr, ast.Load())

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._told(node.arg))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return self.visit(ast.Assign([node.target], node.value)) if node.value else None

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        return type(node)([self._told(name) for name in node.names])

    visit_Nonlocal = visit_Global

    def visit_FunctionDef(self, node: Definition) -> ast.AST:
        documented = ast.get_docstring(node, clean=False) is not None and len(node.body) > 1
        node = type(node)(**{**dict(ast.iter_fields(node)), "body": node.body[documented:]})
        if not isinstance(node, ast.ClassDef):
            node.returns = node.type_comment = None
        node.name = self._told(node.name)
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """A new node: the text's own belong to whoever has parsed it."""
        plain = type(node)()
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                value = [v for old in value if (v := self.visit(old) if isinstance(old, ast.AST) else old) is not None]
            elif isinstance(value, ast.AST):
                value = self.visit(value)
            elif name in ("name", "rest") and isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
                value = self._told(value) if value else value
            setattr(plain, name, value)
        return plain


def _labels(node: ast.AST) -> Iterator[str]:
    """What a plain tree is made of, node by node, from the root down."""
    told = [value for _, value in ast.iter_fields(node) if isinstance(value, (str, int, float, bytes, complex))]
    yield " ".join(
        [type(node).__name__, *(SAME if str(value).startswith(f"{SAME} ") else repr(value) for value in told)]
    )
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr_context):
            yield from _labels(child)
