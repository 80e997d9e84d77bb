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
NOT_A_MODULE = {"with": "with_framework"}  # a keyword of Python
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

    units = command("units", "list the units of the course, or the exercises of one")
    units.add_argument("unit", nargs="?", metavar="UNIT", help="its exercises: 04, or communication")
    _json(units)

    progress = command("progress", "show what you have done, and what comes next")
    progress.add_argument("unit", nargs="?", metavar="UNIT", help="only this one, and its parts: 04, or communication")

    board = command("board", "show a class how far it is, on a page for the projector; or join such a board")
    _of_board(board)

    check = command("check", "check your answer to an exercise")
    check.add_argument("exercise", nargs="?", metavar="TOPIC.EXERCISE", help="as in communication.ring_all_reduce")
    check.add_argument("file", nargs="?", metavar="FILE", help="the .py file or notebook that defines the function")
    check.add_argument("--all", action="store_true", help="check every exercise's reference solution instead")
    check.add_argument("--reference", action="store_true", help="check the exercise's own reference solution instead")
    check.add_argument("--wrong", action="store_true", help="a table: what each known wrong answer is told")
    check.add_argument("--apart", action="store_true", help="try right values on separate processes, too, as a grader")
    check.add_argument("--on", metavar="WORLD", help=_WORLD)
    _json(check)

    run = command("run", "run a script on several ranks, as torchrun does, or a function of yours")
    run.usage = "lockstep run [OPTION ...] (FILE.py | -m MODULE | FILE.py:FUNC) [ARGUMENT ...]"
    _of_run(run)
    run.add_argument("-m", "--module", action="store_true", help="what follows is a module, as for python -m")
    run.add_argument("target", metavar="FILE.py", help="a script; FILE.py:FUNC: a function that needs no arguments")
    run.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="what the script finds in sys.argv"
    )

    plan = command("plan", "plan a training run on a cluster: how to divide it, how long a step takes, what fits")
    _of_plan(plan)
    _json(plan)

    show = command(
        "show", "open a trace file, of lockstep run or of a profiler: a page with its timeline, and a summary"
    )
    show.add_argument("file", metavar="TRACE.json", help="a file in Chrome's trace format; it may be compressed, .gz")
    show.add_argument("--html", metavar="OUT.html", help="the page; by itself beside the trace, with .html for .json")
    show.add_argument("--open", action="store_true", help="open the page in a browser")
    _json(show)

    audit = command("audit", "measure which estimators of scikit-learn run in parallel here, and how")
    audit.add_argument("estimators", nargs="*", metavar="NAME", help="as in KMeans, or sklearn.svm:SVC; else all")
    audit.add_argument("--svg", metavar="OUT.svg", help="write the figure")
    _json(audit)


def _of_board(board: argparse.ArgumentParser) -> None:
    learner = board.add_argument_group("for a learner")
    learner.add_argument("--join", metavar="ADDRESS", nargs="?", const="", help="report your checks to this board")
    learner.add_argument("--nickname", metavar="NAME", help="be shown on it under this name; else under none")
    learner.add_argument("--leave", action="store_true", help="report no more, and be forgotten there")
    learner.add_argument("--status", action="store_true", help="to which board you report, and what it has not got yet")
    learner.add_argument(
        "--answer", metavar="FORM", choices=("before", "after"), help="the concept inventory's questions"
    )
    learner.add_argument(
        "--to", metavar="FILE.csv", help="where your answers go; else to the board that you have joined"
    )
    teacher = board.add_argument_group("for a teacher")
    teacher.add_argument("--bind", metavar="ADDRESS", default="127.0.0.1", help="0.0.0.0: all machines reach it")
    teacher.add_argument("--port", metavar="N", type=int, default=8650, help="8650 if you name none; 0: a free one")
    teacher.add_argument(
        "--keep", metavar="FILE", help="where the board keeps what it was told, for a class of its own"
    )
    teacher.add_argument("--learners", metavar="N", type=int, default=1000, help="it takes no more than so many: 1000")
    teacher.add_argument("--no-names", action="store_true", help="show no nicknames")
    teacher.add_argument("--hub", action="store_true", help="as a service that JupyterHub has started")
    teacher.add_argument("--export", metavar="DIR", help="write before.csv and after.csv: the answers of the class")
    teacher.add_argument(
        "--inventory", nargs=2, metavar=("BEFORE.csv", "AFTER.csv"), help="what a class has learned, by its answers"
    )


def _of_plan(plan: argparse.ArgumentParser) -> None:
    plan.add_argument("--model", required=True, metavar="M", help="as in llama3-70b, or layers=32,hidden=4096,heads=32")
    plan.add_argument("--cluster", required=True, metavar="C", help='as in "dgx-a100 x 128", or a JSON file')
    plan.add_argument("--batch", metavar="N", help="sequences of a step; else about 4 million tokens")
    plan.add_argument("--seq", metavar="N", help="tokens of a sequence; else the model's")
    plan.add_argument("--precision", metavar="P", default="bf16", help="bf16, fp8, mxfp8 or nvfp4")
    plan.add_argument(
        "--dispatch", metavar="P", default="bf16", help="bf16 or fp8: how tokens travel to experts; they return in bf16"
    )
    plan.add_argument("--stack", metavar="S", help="the software, as in megatron-2021, fused, compiled, bridge-26.06")
    plan.add_argument(
        "--fix", metavar="AXIS=N,…", default="",
        help="what is not searched: dp, tp, pp, vp, ep, cp, zero, micro_batch, recompute, sequence_parallel, overlap",
    )  # fmt: skip
    plan.add_argument("--top", metavar="N", default="5", help="so many plans, the best first")
    plan.add_argument(
        "--page", metavar="FILE.html", help="also write a page with sliders and all plans, to look at offline"
    )
    plan.add_argument("--explain", action="store_true", help="where the best plan's seconds and bytes come from")
    plan.add_argument("--tokens", metavar="N", help="the days and cost of so many tokens, with failures")
    plan.add_argument("--days", metavar="N", help="the tokens and cost of so many days, with failures")
    plan.add_argument("--price", metavar="DOLLARS", help="of an hour of a GPU")


def _of_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("--ranks", metavar="N", help="how many ranks")
    run.add_argument("--on", metavar="WORLD", help=_WORLD)
    run.add_argument("--rules", metavar="BACKEND", default="rendezvous", help="virtual only: nccl, mpi or rendezvous")
    run.add_argument(
        "--pretend-cuda", action="store_true", help="a script: torch.cuda is a stand-in, the GPUs of the cluster"
    )
    run.add_argument(
        "--isolate", metavar="PACKAGE,…", default="", help="virtual only: packages that each rank imports for itself"
    )
    run.add_argument("--strict", action="store_true", help="virtual only: a race is an error (docs/races.md)")
    run.add_argument("--trace", metavar="OUT.json", help="write a Chrome trace, for https://ui.perfetto.dev")
    run.add_argument(
        "--dumps", metavar="DIR", help="where the run fails: what a flight recorder has, for torch's fr_trace"
    )
    run.add_argument("--timeout", metavar="S", help="seconds: 60 for a function, any number for a script")


def options_of_run(args: argparse.Namespace) -> argparse.Namespace:
    """``args`` with the options of ``lockstep run`` that stand after its target."""
    after = _Parser(prog="lockstep run", add_help=False)
    _of_run(after)
    found, unknown = after.parse_known_args(args.arguments, argparse.Namespace(**vars(args)))
    if unknown:
        after.error(f"`lockstep run` does not know {' '.join(unknown)}.")
    return found


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
    grade.add_argument("--lms", metavar="FILE", help="the class as Moodle or Canvas exports it: a CSV to import there")
    grade.add_argument("--lms-names", metavar="COLUMN", default="", help="its column with the names of the submissions")
    grade.add_argument("--lms-column", metavar="COLUMN", default="", help="its column for the grades, if not LAB")
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

    beside = command("with", "set up a framework that unit 07 shows, in an environment of its own")
    beside.add_argument("framework", metavar="NAME", help="tensorflow or lightning")
    beside.add_argument("--yes", action="store_true", help="do not ask before downloading")

    build = command("build", "make the notebooks from their text sources")
    build.add_argument("--check", action="store_true", help="only tell which notebooks are not up to date")
    build.add_argument(
        "--open", type=Path, metavar="DIR", help="write the complete lessons, with all that is behind them, into DIR"
    )

    bench = command("bench", "measure Lockstep beside its peers")
    bench.add_argument(
        "benchmark",
        nargs="?",
        metavar="NAME",
        help="launch, virtual, collectives, predict, plan, ddp, step, grade, simt; else all",
    )
    bench.add_argument("--against", metavar="COMMIT", help="virtual only: has it become slower since that commit?")
    bench.add_argument("--size", choices=("quick", "normal", "full"), default="normal", help="quick only tries it out")
    bench.add_argument("--full", action="store_const", const="full", dest="size", help="more ranks, sizes and repeats")
    _json(bench)


def _json(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", action="store_true", help="print JSON and nothing else")


def _later(name: str) -> Callable[[Any], int]:
    """The function ``name`` of the module ``lockstep.cli.name``, imported when it is called."""

    def ahead(args: argparse.Namespace) -> dict[str, Any]:
        """Most exercises need nothing of torch's rare modules, which cost a CPU second; what one needs is loaded once,
        for its ranks and for its judge."""
        if name != "check" or args.all or args.on:
            return {}
        return {"rare": False, "more": lambda: importlib.import_module("lockstep.cli.check").ahead(args.exercise)}

    def call(args: argparse.Namespace) -> int:
        if name in WITH_RANKS and not importlib.import_module("lockstep.cli.rank").under_launcher():
            importlib.import_module("lockstep.forking.starter").load_here(**ahead(args))
        module = NOT_A_MODULE.get(name, name)
        command: Callable[[Any], int] = getattr(importlib.import_module(f"lockstep.cli.{module}"), module)
        return command(args)

    return call
