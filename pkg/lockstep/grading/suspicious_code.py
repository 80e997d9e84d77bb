"""Code in an answer that reaches for the program that grades it: a note asks the teacher to read the answer.

Inside one process Python has no walls (docs/trust.md). What could be closed is closed; what is left needs one of these,
or hides that it does. Nothing here costs a point: the note says what is in the text, and no more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lockstep.checks.load import FromFile
from lockstep.checks.needed import needed, statements
from lockstep.moved import now

HANDED_OUT = {  # of the library: what the labs themselves import, or say that an answer may
    "run", "check", "show", "predict", "reconcile", "your_turn", "quiz", "errors", "models", "datasets", "tally",
    "cost", "simt.launch", "simt.tensor_core", "sharded.flat", "experts.training", "tensor_parallel.f_and_g",
}  # fmt: skip
MODULES = {
    "gc", "ctypes", "_ctypes", "cffi", "marshal", "dis", "inspect", "importlib", "builtins", "types", "mmap",
    "cloudpickle", "socket", "subprocess", "runpy", "code", "linecache", "traceback", "multiprocessing.shared_memory",
    "torch.overrides", "torch.utils._python_dispatch", "torch._C", "os", "pathlib", "tempfile", "shutil", "glob",
    "sqlite3", "weakref", "signal", "numba.extending", "numba.core", "numba.config",
}  # fmt: skip
RANKS = ("torch.distributed", "horovod")
BESIDE_RANKS = {"numpy", "threading", "_thread", "concurrent.futures"}  # where what ranks do, hold and wait is recorded
CALLS = {"exec", "eval", "compile", "__import__", "globals", "setattr", "delattr", "open", "memoryview", "vars"}
ATTRIBUTES = {
    "__code__", "__closure__", "__globals__", "__defaults__", "__kwdefaults__", "__subclasses__", "__builtins__",
    "__mro__", "__bases__", "__self__", "__func__", "__wrapped__", "__reduce__", "cell_contents", "co_code", "f_locals",
    "f_back", "f_globals", "gi_frame", "tb_frame", "_getframe", "_current_frames", "settrace", "setprofile",
    "addaudithook", "tofile", "memmap", "sources", "codes", "reference_function", "_get_default_store", "HashStore",
    "FileStore", "TCPStore", "DisableTorchFunction", "save", "savez", "savez_compressed", "fromfile",
}  # fmt: skip
WHOLE = {"sys.modules", "os.write", "torch.save"}  # the last two write what nobody hears of


def executed(answer: FromFile) -> str:
    """What runs of a file or a notebook, and no more: a lab's own cells import more than an answer to it needs."""
    found = [s for source in answer.sources for s in statements(source.text, source.name)]
    return "\n".join(ast.unparse(s.node) for s in needed(found, answer.name))


def reaches(text: str) -> list[str]:
    """What it uses that hardly any answer needs, each once, as the note names it: "gc", "__code__", "exec()"."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    own, imported = _own(tree), _imported(tree)
    found = [told for node in ast.walk(tree) for told in _of(node, own, imported)]
    return list(dict.fromkeys([*found, *_beside_ranks(tree)]))


def note(name: str, found: list[str]) -> str:
    """For the class's table."""
    told = ", ".join(found[:4]) + (" and more" if len(found) > 4 else "")
    return f"Read the answer to {name}: it uses {told}, by which a program can get round its check."


def _modules(node: ast.AST) -> list[str]:
    """What a statement imports: modules, and what may be modules in them."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _imported(tree: ast.AST) -> set[str]:
    """The names that are bound to modules, and to what is in them."""
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}


def _own(tree: ast.AST) -> set[str]:
    """The attributes that the text gives to things itself."""
    stored = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    return stored | {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def _beside_ranks(tree: ast.AST) -> list[str]:
    """What computes or sends where a rank's recorder does not see it."""
    modules = [module for node in ast.walk(tree) for module in _modules(node)]
    if not any(f"{module}.".startswith(f"{ranks}.") for module in modules for ranks in RANKS):
        return []
    return [f"{module} beside ranks" for module in modules if module in BESIDE_RANKS]


def _of(node: ast.AST, own: set[str], imported: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from filter(_is_inside, _modules(node))
    elif isinstance(node, ast.ImportFrom):
        yield from [name for name in _modules(node) if _is_inside(name)][:1]
    elif isinstance(node, ast.Attribute):
        hidden = node.attr.startswith("_") and not node.attr.startswith("__") and node.attr not in own
        if node.attr in ATTRIBUTES or hidden:
            yield node.attr
        elif (whole := ast.unparse(node)) in WHOLE or (_root(node) in imported and _is_inside(whole)):
            yield whole
        elif isinstance(node.ctx, (ast.Store, ast.Del)) and _root(node) in imported:
            yield f"{whole[:60]} = ..."
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from [name for name in node.value.split(".") if "_" in name and name in ATTRIBUTES]
    elif isinstance(node, ast.Call):
        yield from _called(node)


def _called(node: ast.Call) -> Iterator[str]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    computed = name == "getattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
    if name in CALLS or computed:
        yield f"{name}()"


def _is_inside(module: str) -> bool:
    package, _, name = module.partition(".")
    if package == "lockstep":
        return bool(name) and not any(f"{now(name)}.".startswith(f"{known}.") for known in HANDED_OUT)
    return any(f"{module}.".startswith(f"{known}.") for known in MODULES)


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
