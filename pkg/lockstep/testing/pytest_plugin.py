"""The hooks of pytest: a test marked ``lockstep`` becomes one for each number of ranks, and its function runs on them.

    @pytest.mark.lockstep(ranks=[2, 4])
    def test_sum():
        x = torch.ones(1)
        dist.all_reduce(x)
        assert x.item() == dist.get_world_size()

Every pytest of an environment loads this file, so it imports no torch: only a marked test that runs does so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import ExceptionChainRepr

from lockstep.errors import UsageError
from lockstep.testing import mark as marks
from lockstep.testing.mark import REAL, Mark

if TYPE_CHECKING:
    from lockstep.testing.recorded import Recorded
    from lockstep.worlds import Result

RANKS, TIES = "lockstep_ranks", "lockstep_ties"  # parameters of a test
DEBUGGERS = {"usepdb": "--pdb", "trace": "--trace"}
RESULT, FAILED = pytest.StashKey[Any](), pytest.StashKey[Any]()  # a Result, and an outside.Failed
AFTER = pytest.StashKey[int]()  # the rank whose returned function is being called


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lockstep", "tests on ranks (lockstep)")
    group.addoption(
        "--lockstep-on",
        metavar="WORLD",
        help="run marked tests in this world instead of their own: processes, virtual, spmd (under torchrun), or a "
        "cluster to simulate, such as dgx-a100",
    )
    group.addoption(
        "--lockstep-ranks",
        metavar="N,…",
        help="of marked tests, run those on N ranks only (-k cannot name them: it takes no =)",
    )
    group.addoption(
        "--lockstep-ties",
        metavar="N",
        type=int,
        help="run each marked test N times, with another order of the ranks that act at the same virtual time",
    )
    group.addoption(
        "--lockstep-dumps",
        metavar="DIR",
        help="where a run of ranks fails, write what PyTorch's flight recorder would have of it into DIR, for "
        "torch.distributed.flight_recorder.fr_trace",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "lockstep(ranks, on='virtual', ties=(), strict=True, seed=0, timeout=60, rules, fake, isolate): run this test "
        "on each of so many ranks, without a launcher. See docs/pytest.md of lockstep.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = _mark(metafunc.definition)
    if mark is None:
        return
    if inspect.iscoroutinefunction(metafunc.function):
        pytest.fail("a test on ranks is a plain function, and this one is async.", pytrace=False)
    for name, values in ((RANKS, mark.ranks), (TIES, mark.ties)):
        if values:
            metafunc.fixturenames.append(name)
            short = name.removeprefix("lockstep_")
            metafunc.parametrize(name, values, ids=[f"{short}={value}" for value in values])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = [option for name, option in DEBUGGERS.items() if config.getoption(name, False)]
    if asked and any(item.get_closest_marker("lockstep") for item in items):
        raise pytest.UsageError(
            f"{asked[0]}: a rank has no terminal for a debugger. Leave it out, or leave out tests that are marked "
            "lockstep."
        )
    if wanted := config.getoption("--lockstep-ranks"):
        numbers = _numbers(wanted)
        others = [item for item in items if _ranks_of(item) not in (None, *numbers)]
        items[:] = [item for item in items if item not in set(others)]
        config.hook.pytest_deselected(items=others)


def _numbers(wanted: str) -> list[int]:
    """``2,4``"""
    try:
        return list(marks.whole_numbers("ranks", [int(n) for n in wanted.split(",")], least=1))
    except (ValueError, UsageError):
        raise pytest.UsageError(f"--lockstep-ranks {wanted}: write numbers, as in --lockstep-ranks 2,4.") from None


def _ranks_of(item: pytest.Item) -> int | None:
    """None for a test that is not marked."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return parameters.get(RANKS) if item.get_closest_marker("lockstep") else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("lockstep") is None:
        return
    mark = _mark(item)
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if mark is None or RANKS not in parameters:
        pytest.fail("the mark lockstep is for test functions and methods of plain classes.", pytrace=False)
    if reason := mark.cannot(parameters[RANKS]):
        pytest.skip(reason)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object | None:
    mark = _mark(pyfuncitem)
    if mark is None:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    drawn = getattr(pyfuncitem.obj, "hypothesis", None)
    if drawn is None:
        _run(pyfuncitem, mark, pyfuncitem.obj, arguments)
        return True
    test = drawn.inner_test

    @wraps(test)
    def on_ranks(*self: Any, **example: Any) -> None:
        _run(pyfuncitem, mark, partial(test, *self), example)

    drawn.inner_test = on_ranks  # hypothesis draws here, and each of its examples is a run
    try:
        pyfuncitem.obj(**arguments)
    finally:
        drawn.inner_test = test
    return True


def _run(item: pytest.Function, mark: Mark, test: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Run ``test`` on ranks, and then what they returned."""
    from lockstep.testing import outside

    parameters: Mapping[str, Any] = item.callspec.params
    try:
        result = outside.run_on_ranks(item, test, arguments, mark, parameters[RANKS], parameters.get(TIES))
    except outside.Failed as failed:
        item.stash[FAILED] = failed
        raise failed.error from None
    item.stash[RESULT] = result
    for rank, after in enumerate(result.values):
        if after is not None:
            names = [p.name for p in inspect.signature(after).parameters.values() if p.default is p.empty]
            given = {n: OF_RUN[n](result) if n in OF_RUN else item._request.getfixturevalue(n) for n in names}
            item.stash[AFTER] = rank
            after(**given)
            del item.stash[AFTER]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    failed = item.stash.get(FAILED, None)
    if failed and call.excinfo and call.excinfo.value is failed.error and report.failed:
        notes = getattr(failed.error, "__notes__", [])  # the example that hypothesis has found
        if notes:
            failed.printed.addsection("notes", "\n".join(notes))
        report.longrepr = failed.printed
    elif AFTER in item.stash and report.failed and isinstance(report.longrepr, ExceptionChainRepr):
        rank, shown = item.stash[AFTER], report.longrepr
        shown.addsection(f"rank {rank} returned this function", "It was called when all ranks had ended.")
        if shown.reprcrash:  # what the summary says
            shown.reprcrash.message = f"rank {rank}: {shown.reprcrash.message}"
        del item.stash[AFTER]
    return report


def _mark(node: pytest.Item | pytest.FunctionDefinition) -> Mark | None:  # type: ignore[name-defined]
    """What the marks of a test ask for, with what the command line says. Fails the test for an invalid one."""
    found = list(node.iter_markers("lockstep"))
    if not found:
        return None
    config = node.config
    try:
        given = [m.kwargs | ({"ranks": m.args[0]} if m.args else {}) for m in found]
        return marks.read(given, config.getoption("--lockstep-on"), config.getoption("--lockstep-ties"))
    except UsageError as error:
        pytest.fail(str(error), pytrace=False)


# ---- fixtures


@pytest.fixture
def ranks(request: pytest.FixtureRequest) -> int:
    """How many ranks this test runs on, for fixtures that are made outside."""
    return int(request.node.callspec.params[RANKS])


def _result(request: pytest.FixtureRequest) -> Result:
    if RESULT not in request.node.stash:
        pytest.fail(
            f"{request.fixturename} is known when the ranks have ended. Let the test return a function that takes it: "
            f"def after({request.fixturename}): ...; return after",
            pytrace=False,
        )
    found: Result = request.node.stash[RESULT]
    return found


def _trace(result: Result) -> Recorded:
    from lockstep.testing.recorded import Recorded

    return Recorded.by(result.trace)


def _virtual_time(result: Result) -> float:
    if result.trace.world in REAL:
        pytest.skip("virtual time is the virtual cluster's")
    return result.time


def _peak_memory(result: Result) -> list[int]:
    return list(result.peak_memory)


OF_RUN: Mapping[str, Callable[[Result], Any]] = {
    "trace": _trace,
    "virtual_time": _virtual_time,
    "peak_memory": _peak_memory,
}


@pytest.fixture
def trace(request: pytest.FixtureRequest) -> Recorded:
    """All communication of the ranks, for a function that the test returns."""
    return _trace(_result(request))


@pytest.fixture
def virtual_time(request: pytest.FixtureRequest) -> float:
    """Virtual seconds until the last rank had finished, for a function that the test returns. Skips in other worlds."""
    return _virtual_time(_result(request))


@pytest.fixture
def peak_memory(request: pytest.FixtureRequest) -> list[int]:
    """Bytes of tensors that were alive at once, by rank, for a function that the test returns."""
    return _peak_memory(_result(request))
