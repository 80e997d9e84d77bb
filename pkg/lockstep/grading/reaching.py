"""What in an answer's text reaches for the program that judges it: for a teacher, who is told to read it.

Inside one process Python has no walls (docs/trust.md). What could be mended is mended; what is left needs one of these,
or hides that it does. Nothing here costs a point: the note says what is in the text, and no more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

INSIDE = (  # of the library: who runs an answer, writes down what it does, and judges it
    "checks", "exercises", "grading", "residency", "virtual", "record", "launch", "comm", "worlds",
    "tensor_parallel.bugs", "tensor_parallel.proof", "collectives.proof",
)  # fmt: skip
MODULES = {
    *(f"lockstep.{name}" for name in INSIDE), "gc", "ctypes", "_ctypes", "cffi", "marshal", "dis", "inspect",
    "importlib", "builtins", "types", "mmap", "cloudpickle", "socket", "subprocess", "runpy", "code",
    "linecache", "traceback", "multiprocessing.shared_memory", "torch.utils._python_dispatch", "torch._C",
}  # fmt: skip
CALLS = {"exec", "eval", "compile", "__import__", "globals", "setattr", "delattr", "open", "memoryview"}
ATTRIBUTES = {
    "__code__", "__closure__", "__globals__", "__defaults__", "__kwdefaults__", "__subclasses__", "__builtins__",
    "__mro__", "__bases__", "__self__", "__func__", "__wrapped__", "__reduce__", "cell_contents", "co_code", "f_locals",
    "f_back", "f_globals", "gi_frame", "tb_frame", "_getframe", "_current_frames", "settrace", "setprofile",
    "addaudithook", "tofile", "memmap", "sources", "reference_function", "_get_default_store", "HashStore", "FileStore",
    "TCPStore",
}  # fmt: skip
WHOLE = {"sys.modules", "os.write", "torch.save"}  # the last two write what nobody hears of


def reaches(texts: Iterable[str]) -> list[str]:
    """What they use that hardly any answer needs, each once, as it is told: "gc", "__code__", "exec()"."""
    found: dict[str, None] = {}
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        imported = _imported(tree)
        for node in ast.walk(tree):
            found |= dict.fromkeys(_of(node, imported))
    return list(found)


def note(name: str, found: list[str]) -> str:
    """For the class's table."""
    told = ", ".join(found[:4]) + (" and more" if len(found) > 4 else "")
    return f"Read the answer to {name}: it uses {told}, by which a program can get round its check."


def _imported(tree: ast.AST) -> set[str]:
    """The names by which modules, and what is in them, go."""
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}


def _of(node: ast.AST, imported: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _is_inside(alias.name))
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        yield from [name for name in names if _is_inside(name)][:1]
    elif isinstance(node, ast.Attribute):
        if node.attr in ATTRIBUTES:
            yield node.attr
        elif (whole := ast.unparse(node)) in WHOLE:
            yield whole
        elif isinstance(node.ctx, (ast.Store, ast.Del)) and _root(node) in imported:
            yield f"{ast.unparse(node)[:60]} = ..."
    elif isinstance(node, ast.Call):
        yield from _called(node)


def _called(node: ast.Call) -> Iterator[str]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    computed = name == "getattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
    hidden = name == "getattr" and len(node.args) > 1 and getattr(node.args[1], "value", None) in ATTRIBUTES
    if name in CALLS or computed or hidden:
        yield f"{name}()"


def _is_inside(module: str) -> bool:
    return any(f"{module}.".startswith(f"{known}.") for known in MODULES)


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
