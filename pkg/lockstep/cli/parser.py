"""What can be typed. Nothing here imports more than argparse, so that ``lockstep --help`` is there at once."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

_WORLD = "processes, virtual, spmd, or the name of a cluster such as dgx-a100"
WITH_RANKS = ("answers", "check", "run")  # the commands that start ranks, and do little else
Command = Callable[[str, str], argparse.ArgumentParser]  # of a name and what it does


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """``args.command(args)`` runs the chosen command; ``args.others`` is what follows ``lab``: DIR, and options that it
    hands on."""
    top = _parser()
    args, others = top.parse_known_args(argv)
    if others and args.name != "lab":
        top.error(f"`lockstep {args.name}` does not know {' '.join(others)}.")
    args.others = others
    return args


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}\nSee `{self.prog} --help`.", file=sys.stderr)
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    top = _Parser(prog="lockstep", description="A teaching lab for parallel machine learning.")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        sub.set_defaults(name=name, command=_later(name))
        return sub

    _for_learners(command)
    _for_teachers(command)
    _for_makers(command)
    return top


def _for_learners(command: Command) -> None:
    lab = command("lab", "open your copy of the course in JupyterLab")
    lab.usage = "lockstep lab [DIR] [OPTION ...]"
    lab.epilog = (
        "DIR is the folder that you work in: my-course if you name none. The course is copied there, never over what "
        "you have written. Every option goes to JupyterLab, as in: lockstep lab --port 9000"
    )

    doctor = command("doctor", "examine this machine, each fault with its remedy")
    doctor.add_argument("--survey", action="store_true", help="measure this machine anew: compute, memory, links")
    _json(doctor)

    _json(command("units", "list the units of the course and their exercises"))
    command("progress", "show your scores and predictions")

    check = command("check", "check your answer to an exercise")
    check.add_argument("exercise", nargs="?", metavar="TOPIC.EXERCISE", help="as in communication.ring_all_reduce")
    check.add_argument("file", nargs="?", metavar="FILE", help="the .py file or notebook that defines the function")
    check.add_argument("--all", action="store_true", help="check every exercise's reference solution instead")
    check.add_argument("--reference", action="store_true", help="check the exercise's own reference solution instead")
    check.add_argument("--wrong", action="store_true", help="a table: what each known wrong answer is told")
    check.add_argument("--apart", action="store_true", help="try right values on separate processes, too, as a grader")
    check.add_argument("--on", metavar="WORLD", help=_WORLD)
    _json(check)

    run = command("run", "run a function of yours on several ranks")
    run.add_argument("target", metavar="FILE.py:FUNC", help="a function that needs no arguments")
    run.add_argument("--ranks", metavar="N", help="how many ranks")
    run.add_argument("--on", metavar="WORLD", help=_WORLD)
    run.add_argument("--trace", metavar="OUT.json", help="write a Chrome trace, for https://ui.perfetto.dev")

    audit = command("audit", "measure which estimators of scikit-learn run in parallel here, and how")
    audit.add_argument("estimators", nargs="*", metavar="NAME", help="as in KMeans, or sklearn.svm:SVC; else all")
    audit.add_argument("--svg", metavar="OUT.svg", help="write the figure")
    _json(audit)


def _for_teachers(command: Command) -> None:
    cases = command("cases", "list what an exercise is tried on")
    cases.add_argument("exercise", metavar="TOPIC.EXERCISE", help="as in communication.ring_all_reduce")

    answers = command("answers", "a table: what each of many answers to an exercise would be told")
    answers.add_argument("exercise", metavar="TOPIC.EXERCISE", help="as in communication.ring_all_reduce")
    answers.add_argument("files", nargs="+", metavar="FILE", help=".py files or notebooks that define the function")
    _json(answers)

    grade = command("grade", "grade a class's submissions to a lab, each in a sandbox")
    grade.add_argument("lab", metavar="LAB", help="as in 04_communication")
    grade.add_argument("--jobs", metavar="N", type=int, default=1, help="so many submissions at a time")
    grade.add_argument("--student", metavar="NAME", action="append", help="grade this one, once more; may be repeated")
    grade.add_argument("--again", action="store_true", help="grade also those that have a result")
    grade.add_argument("--own-seeds", action="store_true", help="give each student secret inputs of their own")
    grade.add_argument("--answers", action="store_true", help="what the class got wrong, and who was told what")
    grade.add_argument("--alike", action="store_true", help="whose answers are alike, or the library's or course's own")
    grade.add_argument("--viva", action="store_true", help="two questions for each student about their own runs")
    one = grade.add_mutually_exclusive_group()
    one.add_argument(
        "--sandbox", choices=["fork", "bubblewrap"], help="which kind; by itself the first that works here"
    )
    one.add_argument("--unsafe", action="store_true", help="without a sandbox: for submissions that you have read")
    _json(grade)


def _for_makers(command: Command) -> None:
    horovod = command("horovod", "build and install Horovod, which unit 07 needs, for the torch that is here")
    horovod.add_argument("--yes", action="store_true", help="do not ask before building")
    horovod.add_argument("--cached", action="store_true", help="do not build: install what was built before, if it was")

    build = command("build", "make the notebooks from their text sources")
    build.add_argument("--check", action="store_true", help="only tell which notebooks are not up to date")
    build.add_argument(
        "--open", type=Path, metavar="DIR", help="write the complete lessons, with all that is behind them, into DIR"
    )

    bench = command("bench", "measure Lockstep beside its peers")
    bench.add_argument(
        "benchmark", nargs="?", metavar="NAME", help="launch, virtual, collectives, predict, ddp, grade, simt; else all"
    )
    bench.add_argument("--against", metavar="COMMIT", help="virtual only: has it become slower since that commit?")
    bench.add_argument("--size", choices=("quick", "normal", "full"), default="normal", help="quick only tries it out")
    bench.add_argument("--full", action="store_const", const="full", dest="size", help="more ranks, sizes and repeats")
    _json(bench)


def _json(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", action="store_true", help="print JSON and nothing else")


def _later(name: str) -> Callable[[Any], int]:
    """The function ``name`` of the module ``lockstep.cli.name``, imported when it is called."""

    def call(args: argparse.Namespace) -> int:
        if name in WITH_RANKS and not importlib.import_module("lockstep.cli.rank").under_launcher():
            importlib.import_module("lockstep.forking.starter").load_here()
        command: Callable[[Any], int] = getattr(importlib.import_module(f"lockstep.cli.{name}"), name)
        return command(args)

    return call
