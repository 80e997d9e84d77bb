"""``lockstep run``: a script on several ranks, as torchrun starts it, or one function of a file."""

from __future__ import annotations

import argparse
import math
import warnings
from inspect import Parameter
from pathlib import Path
from typing import Any

from lockstep.checks.load import NoFunction, Unreadable, load
from lockstep.cli.kept import Kept
from lockstep.cli.parser import options_of_run
from lockstep.cli.rank import one_voice, under_launcher
from lockstep.errors import RaceWarning, RunError, TimeLimit, UsageError
from lockstep.scripts.script import Script
from lockstep.worlds import Result, check_gpus, run_script, the_cluster
from lockstep.worlds import run as run_function

NEEDED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
WIDTH = 200  # characters of a value that are shown


def run(args: argparse.Namespace) -> int:
    scripted = is_script(args)
    args = args if scripted else options_of_run(args)  # which may stand after FILE.py:FUNC, too
    kept = Kept.asked_for(args)
    try:
        return of_script(args, kept) if scripted else of_function(args, kept)
    except RunError as error:
        if isinstance(error, TimeLimit):
            error.remedy = "Make the problem smaller, or give it longer with --timeout SECONDS."
        error.remedy = "\n".join(filter(None, [error.remedy, *kept.after_failure(error.trace)]))
        raise


def is_script(args: argparse.Namespace) -> bool:
    """``train.py``, and not ``train.py:main``, nor a notebook, of which only a function can be run."""
    if args.module or args.target.endswith(".ipynb"):
        return bool(args.module)
    return ":" not in args.target or Path(args.target).is_file()


def of_script(args: argparse.Namespace, kept: Kept) -> int:
    if not args.module and not Path(args.target).is_file():
        raise UsageError(
            f"There is no file {args.target}.", "Name a script, train.py, or a function of a file, ring.py:exchange."
        )
    if args.ranks is None and "--ranks" in args.arguments:
        raise UsageError(
            f"--ranks stands after {args.target}, whose argument it is then.",
            f"Write lockstep run --ranks 4 {args.target}: options stand before a script.",
        )
    script = Script(args.target, tuple(args.arguments), args.module)
    limit = seconds(args.timeout, math.inf)
    if args.pretend_cuda:
        check_gpus(args.on)
        print(stand_in(args.on), flush=True)
    isolated = packages(args.isolate)
    result = run_script(
        script, number(args.ranks), args.on, args.rules, limit, args.pretend_cuda, args.strict, isolated
    )
    print(took(result))
    if len(result.values) > 1 and not result.trace.communication:
        print(f"{args.target} communicated nothing: its {len(result.values)} ranks ran beside each other.")
    kept.after_success(result.trace)
    return 0


def stand_in(on: str | None) -> str:
    """What is said before a program sees GPUs that are not there."""
    device = the_cluster(on).device.name
    return (
        f"cuda is a stand-in: tensors are on this CPU; bytes, FLOPs and time as on {device}, which nothing is run on."
    )


def of_function(args: argparse.Namespace, kept: Kept) -> int:
    if args.pretend_cuda:
        raise UsageError("--pretend-cuda is for a script, and this is a function.", "Name the file alone: train.py.")
    fn = function(args.target)
    limit = seconds(args.timeout, 60.0)
    with one_voice(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RaceWarning)  # the summary has it
        result = run_function(
            fn, ranks=number(args.ranks), on=args.on, rules=args.rules, timeout=limit, strict=args.strict,
            isolate=packages(args.isolate),
        )  # fmt: skip
        print(summary(result))
        kept.after_success(result.trace)
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


def packages(isolate: str) -> list[str]:
    """``--isolate hydra,megatron``"""
    return [name for name in isolate.split(",") if name]


def seconds(timeout: str | None, otherwise: float) -> float:
    if timeout is None:
        return otherwise
    try:
        limit = float(timeout)
    except ValueError:
        limit = 0.0
    if not limit > 0:
        raise UsageError(f"--timeout {timeout} is no number of seconds.", "Write --timeout 60.")
    return limit


def summary(result: Result) -> str:
    """What each rank returned, then what it took."""
    values = [f"rank {rank}: {shortened(repr(value))}" for rank, value in enumerate(result.values)]
    return "\n".join([*values, took(result)])


def took(result: Result) -> str:
    """Time, memory and traffic of a run, and the rank that waited longest for others; then its races, a line each."""
    ranks, trace = len(result.values), result.trace
    sent = sum(count.nbytes for (_, kind), count in trace.counts().items() if kind != "recv")
    peak = max(range(ranks), key=result.peak_memory.__getitem__)
    waited = [sum(event.wait for event in trace.of_rank(rank)) for rank in range(ranks)]
    longest = max(range(ranks), key=waited.__getitem__)
    told = [
        f"{ranks} ranks on {trace.cluster or trace.world}: {result.time * 1e3:.3g} ms",
        f"{sent:,} bytes handed to communication",
        f"{result.peak_memory[peak]:,} bytes of memory at most (rank {peak})",
        *([f"rank {longest} waited longest, {waited[longest] * 1e3:.3g} ms"] if waited[longest] else []),
    ]
    return "\n".join([", ".join(told), *(f"A race: {sentence}" for sentence in result.warnings)])


def shortened(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} …"
