"""Imports point down only: what a module may know of the library, read from its source."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pkg" / "lockstep"
pytestmark = pytest.mark.reads("pkg/")

# From the ground up. A module may import what stands in a lower row, and what belongs to its own part.
# Parts of one row do not know each other, except on the ground.
LAYERS = [
    [
        "places",
        "distribution",
        "errors",
        "events",
        "chrome_traces",
        "intervals",
        "progress",
        "reports",
        "shadows",
        "tables",
        "tally",
        "machines",
        "moved",
        "cost",
        "deadlock_report",
        "flight_recorder",
        "races",
        "residency",
        "models",
        "datasets",
    ],
    ["comm", "planner"],
    ["record"],
    [  # processes
        "forking",
        "launch.init_process_group",
        "launch.interrupt",
        "launch.job",
        "launch.store",
        "launch.pickled",
        "scripts",
        "this_machine.hardware",
        "this_machine.host",
        "this_machine.measure",
    ],
    ["virtual", "launch"],
    ["launchers", "this_machine", "installs"],
    ["worlds"],
    ["collectives", "straggler", "dye"],
    ["classical", "cpu", "simt", "data_parallel", "bottlenecks"],  # the techniques
    [
        "without_waiting",
        "with_horovod",
        "sharded",
        "pipeline",
        "tensor_parallel",
        "context_parallel",
        "domain_decomposition",
        "experts",
    ],
    ["hybrid"],  # which alone composes them
    ["bottlenecks"],
    ["show"],
    ["experiments"],  # what the lessons' cells call
    ["checks", "bench", "lessons", "notebook", "testing"],
    ["exercises"],
    ["grading", "hub"],
    ["classroom"],
    ["cli"],
    ["__init__", "__main__"],
]
GROUND, STARTING = LAYERS[0], next(row for row in LAYERS if "forking" in row)
EXCEPTIONS = {("worlds", "show")}  # Result.show(), when it is called

PLACE = {part: row for row, parts in enumerate(LAYERS) for part in parts}


def modules() -> list[str]:
    """All modules by name below ``lockstep``: "cost.collectives", "cli" for cli/__init__.py."""
    written = [p for p in PACKAGE.rglob("*.py") if p.parent.name not in ("wrong", "right")]  # those are learners'
    paths = [p.relative_to(PACKAGE).with_suffix("") for p in written]
    return sorted(".".join(p.parts).removesuffix(".__init__") for p in paths)


def source_of(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def part_of(module: str) -> str:
    """The entry of LAYERS that a module belongs to: the longest that fits."""
    fitting = [part for part in PLACE if f"{module}.".startswith(f"{part}.")]
    assert fitting, f"lockstep.{module} stands in no layer: give it one in tests/test_layers.py"
    return max(fitting, key=len)


def imports(tree: ast.AST, deferred: bool = False, typing: bool = False) -> Iterator[tuple[str, bool]]:
    """(module below ``lockstep``, whether only a call imports it). What ``if TYPE_CHECKING`` guards never runs: it is
    left out, or with ``typing`` counted as the rest."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not typing:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path: from lockstep.events import Trace"
            for alias in node.names:
                yield from ((name, deferred) for name in [named(f"{node.module}.{alias.name}")] if name)
        elif isinstance(node, ast.Import):
            yield from ((name, deferred) for alias in node.names for name in [named(alias.name)] if name)
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports(node, deferred or inside, typing)


def named(path: str) -> str:
    """The module that ``lockstep.a.b.Name`` is in: "a.b"; "" for what is not ours."""
    head, *rest = path.split(".")
    if head != "lockstep":
        return ""
    while rest and not source_of(".".join(rest)).exists():
        rest.pop()
    return ".".join(rest) or "__init__"


def allowed(importer: str, imported: str, deferred: bool) -> bool:
    mine, theirs = part_of(importer), part_of(imported)
    if mine == theirs or (deferred and (mine, theirs) in EXCEPTIONS):
        return True
    if PLACE[mine] == PLACE[theirs]:
        return mine in GROUND or mine in STARTING
    return PLACE[mine] > PLACE[theirs]


@pytest.mark.parametrize("module", modules())
def test_imports_point_down(module: str) -> None:
    found = set(imports(ast.parse(source_of(module).read_text())))
    wrong = {imported for imported, deferred in found if not allowed(module, imported, deferred)}
    assert not wrong, f"lockstep.{module} imports {sorted(wrong)}, which stand beside or above it"


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Modules that know each other, by whichever way: each list is one circle."""
    found = []
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError as error:
        found.append(error.args[1])
    return found


def test_no_modules_know_each_other() -> None:
    """Neither when they are imported, nor when they are called, nor in their types. (The lists of public names, which
    packages give lazily, name what imports them: they count for what they import at once.)"""
    graph = {}
    for module in modules():
        lazy = source_of(module).name == "__init__.py"
        found = imports(ast.parse(source_of(module).read_text()), typing=not lazy)
        graph[module] = {name for name, deferred in found if name != module and not (lazy and deferred)}
    assert not circles(graph)


def test_circles_are_seen() -> None:
    assert not circles({"a": {"b"}, "b": {"c"}, "c": set()})
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}})
    code = "if TYPE_CHECKING:\n    from lockstep.checks.load import load\n"
    assert set(imports(ast.parse(code))) == set()
    assert set(imports(ast.parse(code), typing=True)) == {("checks.load", False)}


def test_the_test_itself_sees_imports() -> None:
    code = (
        "from lockstep import show\ndef f():\n    import lockstep.checks.load\n    from lockstep.events import Trace\n"
    )
    assert set(imports(ast.parse(code))) == {("show", False), ("checks.load", True), ("events", True)}
    assert not allowed("worlds", "show", deferred=False)
    assert allowed("worlds", "show.timeline", deferred=True)
    assert not allowed("virtual.network", "launch.pool", deferred=False)
    assert not allowed("cost.collectives", "virtual.clock", deferred=True)


def test_cost_needs_no_torch() -> None:
    """Planner and figures use the formulas; so does the parser of a command that must answer at once."""
    names = [f"lockstep.{m}" for m in modules() if m == "machines" or m.startswith(("cost", "planner"))]
    code = f"import sys, {', '.join(names)}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
