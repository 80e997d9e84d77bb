"""``lockstep run FILE.py:FUNC --ranks N``: one function of a file on several ranks."""

from __future__ import annotations

import argparse
import os
from inspect import Parameter
from pathlib import Path
from typing import Any

from lockstep.checks.load import NoFunction, Unreadable, load
from lockstep.cli.rank import is_rank_zero, one_voice, under_launcher
from lockstep.errors import UsageError
from lockstep.worlds import Result
from lockstep.worlds import run as run_function

NEEDED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
WIDTH = 200  # characters of a value that are shown


def run(args: argparse.Namespace) -> int:
    fn = function(args.target)
    out = trace_file(args.trace)
    with one_voice():
        result = run_function(fn, ranks=number(args.ranks), on=args.on)
        print(summary(result))
        if out is not None and is_rank_zero():
            out.write_text(result.trace.to_chrome())
            print(f"{out}: open it on https://ui.perfetto.dev")
    return 0


def function(target: str) -> Any:
    """``ring.py:exchange`` → the function, which is loaded on the ranks."""
    file, colon, name = target.rpartition(":")
    if not (colon and file and name.isidentifier()):
        raise UsageError(f"{target} names no function.", "Write the file, a colon and the function: ring.py:exchange.")
    try:
        fn = load(file, name)
    except (Unreadable, NoFunction) as error:
        raise UsageError(error.message, error.remedy) from None
    parameters = fn.signature.parameters.values() if fn.signature else ()
    if any(p.default is p.empty and p.kind in NEEDED for p in parameters):
        raise UsageError(f"{name} needs arguments, and `lockstep run` gives it none.", "Give each a default value.")
    return fn


def number(ranks: str | None) -> int | None:
    if ranks is None:
        if not under_launcher():
            raise UsageError("How many ranks?", "Write --ranks 4.")
        return None
    try:
        return int(ranks.replace(",", "").replace("_", ""))
    except ValueError:
        raise UsageError(f"--ranks {ranks} is not a whole number.", "Write --ranks 4.") from None


def trace_file(name: str | None) -> Path | None:
    """Found out before the run, so that its trace is not lost after it."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"The trace cannot be written to {name}.", "Name a file in a folder that is yours.")
    return path


def summary(result: Result) -> str:
    """What each rank returned, then what it took."""
    values = [f"rank {rank}: {shortened(repr(value))}" for rank, value in enumerate(result.values)]
    sent = sum(count.nbytes for (_, kind), count in result.trace.counts().items() if kind != "recv")
    where = result.trace.cluster or result.trace.world
    took = f"{len(values)} ranks on {where}: {result.time * 1e3:.3g} ms, {sent:,} bytes handed to communication"
    return "\n".join([*values, took])


def shortened(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} …"
