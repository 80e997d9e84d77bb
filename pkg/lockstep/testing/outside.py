"""The side of pytest: it packs a test and its fixtures, runs them on ranks, and reports a failure as its rank's own."""

from __future__ import annotations

import logging
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import pytest
from _pytest._code.code import ExceptionChainRepr
from _pytest.assertion import util

from lockstep import races
from lockstep.errors import LockstepError, RunError, UsageError
from lockstep.flight_recorder import dump, reader
from lockstep.launch.job import uncopyable
from lockstep.testing import on_rank
from lockstep.testing.mark import Mark
from lockstep.testing.own_fixtures import NAMES
from lockstep.testing.rank_files import Failure, RankFiles
from lockstep.worlds import Result, check_ranks, run, the_cluster, warm_up

NEEDED = ("lockstep.testing.on_rank",)  # what a rank imports, and pytest with it
REFUSED = {"capfd": "capsys", "capfdbinary": "capsys", "capsysbinary": "capsys"}
OUTCOMES: Any = {"Skipped": pytest.skip.Exception, "Failed": pytest.fail.Exception, "XFailed": pytest.xfail.Exception}
SETTINGS = ("assertion_text_diff_style",)  # which an assert asks for, if this pytest has them


@dataclass
class Failed(Exception):
    """A test that failed on ranks: the error to raise, and what to print of it."""

    error: BaseException
    printed: Any


def run_on_ranks(
    item: pytest.Function,
    test: Callable[..., Any],
    given: Mapping[str, Any],
    mark: Mark,
    ranks: int,
    ties: int | None,
) -> Result:
    """Call ``test``, the function of ``item``, on each rank, with the arguments ``given``. Raises Failed."""
    arguments = {name: None if name in NAMES else value for name, value in given.items()}
    options = mark.arguments() | ({} if ties is None else {"ties": ties})
    if mark.moved and mark.on == "processes":
        skip_too_many(ranks)
    with tempfile.TemporaryDirectory(prefix="lockstep-") as folder, by_value(item):
        files = RankFiles(Path(folder))
        try:
            check_travels(test, arguments)
            survey_first(item.config, mark.on)
            warm_up(NEEDED)
            return run(on_rank.call, test, arguments, files.folder, manner(item.config), ranks=ranks, on=mark.on, **options)  # noqa: E501  # fmt: skip
        except LockstepError as error:
            failed = of_rank(error, files) or of_run(error, item)
            keep_dumps(error, item, failed)
            raise failed from None
        finally:
            for record in files.records():
                logging.getLogger(record.name).handle(record)


def skip_too_many(ranks: int) -> None:
    try:
        check_ranks(ranks, "processes")
    except UsageError as error:
        pytest.skip(error.message)


def check_travels(test: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raise UsageError for a test or a fixture that cannot be copied to the ranks; it names the fixture."""
    for name, value in {"": test, **arguments}.items():
        if name in REFUSED:
            raise UsageError(f"{name} listens to this process, and ranks are others.", f"Use {REFUSED[name]}.")
        try:
            cloudpickle.dumps(value)
        except Exception as error:
            raise uncopyable({f"The fixture {name}" if name else "The test": value}, error) from None


def survey_first(config: pytest.Config, on: Any) -> None:
    """Measure this machine where the test simulates it and nobody has: told on the terminal, and not as what a test
    has printed."""
    if on == "virtual":
        capture = config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled() if capture else nullcontext():
            the_cluster(on)


@contextmanager
def by_value(item: pytest.Function) -> Iterator[None]:
    """A context in which functions of the test's module and of conftests travel as pytest has compiled them: a rank
    that imported them would compile them without pytest, or would not find them."""
    plugins = [p for p in item.config.pluginmanager.get_plugins() if isinstance(p, ModuleType)]
    conftests = [p for p in plugins if Path(getattr(p, "__file__", None) or "").name == "conftest.py"]
    known = cloudpickle.list_registry_pickle_by_value()
    modules = (item.module, *conftests)
    mine = [m for m in modules if m.__name__ not in known and sys.modules.get(m.__name__) is m]
    for module in mine:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in mine:
            cloudpickle.unregister_pickle_by_value(module)


def manner(config: pytest.Config) -> on_rank.Manner:
    """How this pytest prints."""
    style = config.getoption("tbstyle", "auto")
    known = {name: config.getini(name) for name in SETTINGS if hasattr(util, "get_assertion_text_diff_style")}
    verbose = config.get_verbosity(pytest.Config.VERBOSITY_ASSERTIONS)
    style = "long" if style in ("auto", "no") else style
    return on_rank.Manner(style, config.getoption("showlocals", False), verbose, logging.getLogger().level, known)


def of_rank(error: LockstepError, files: RankFiles) -> Failed | None:
    """The failure of the rank that ended the run by an exception of its own; None for all other errors."""
    end = error.exit if isinstance(error, RunError) else None
    failure = files.failure(end.rank) if end else None
    if not isinstance(error, RunError) or end is None or failure is None:
        return None
    shown = failure.printed
    if shown.reprcrash:  # what the summary says
        shown.reprcrash.message = f"rank {end.rank}: {shown.reprcrash.message}"
    if end.exception == "AssertionError" and error.trace and (waiting := races.pending(error.trace, end.rank)):
        shown.addsection("what had not arrived", races.told_pending(waiting))
    others = [str(state) for state in error.states if state.rank != end.rank]
    if others:
        shown.addsection(f"rank {end.rank} failed, and the other ranks were ended", "\n".join(others))
    return Failed(opened(failure) or error, shown)


def keep_dumps(error: LockstepError, item: pytest.Function, failed: Failed) -> None:
    """Write what a flight recorder would have of the run, where the command line asks for it, and tell where."""
    folder = item.config.getoption("--lockstep-dumps")
    if folder and isinstance(error, RunError) and error.trace:
        mine = Path(folder) / re.sub(r"[^\w.=-]+", "-", item.nodeid).strip("-")
        dump(error.trace, mine)
        failed.printed.addsection("dumps of a flight recorder", f"{mine}\n{reader(mine)}")


def opened(failure: Failure) -> BaseException | None:
    """The exception itself, so that ``xfail(raises=...)`` and ``pytest.skip`` are what they are elsewhere."""
    if failure.outcome in OUTCOMES:
        outcome: BaseException = OUTCOMES[failure.outcome](failure.message)
        vars(outcome)["_use_item_location"] = True  # of the test, and not of this line
        return outcome
    try:
        found = pickle.loads(failure.pickled) if failure.pickled else None
    except Exception:
        return None
    return found if isinstance(found, Exception | SystemExit) else None


def of_run(error: LockstepError, item: pytest.Function) -> Failed:
    """What to print of a deadlock, a mismatch, and all else that is no exception of a rank."""
    info = pytest.ExceptionInfo.from_exception(error)
    shown = info.getrepr(style="value")
    path, line, _ = item.reportinfo()
    name, message = type(error).__name__, error.message.partition("\n")[0]
    if isinstance(shown, ExceptionChainRepr) and shown.reprcrash:  # what the summary says
        shown.reprcrash.path, shown.reprcrash.lineno = str(path), (line or 0) + 1
        shown.reprcrash.message = f"{name}: {message.removeprefix(f'{name}: ')}"
    return Failed(error, shown)
