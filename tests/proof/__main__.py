"""What of the tests has to run, and running it.

    python -m proof affected [--since COMMIT]     all tests of what has changed since a commit, by default the last one;
                                                  of an exercise those that are about it, and not about many
    python -m proof all [--within SECONDS]        all tests that tests/proven.json does not prove, and note what passes
    python -m proof ci --within SECONDS           the same as .ci/run does it: some entries of the ledger anew, then
                                                  slow tests of what is unproven; nothing is noted
    python -m proof unproven                      name them
    python -m proof why PART FILE                 why a part of the tests depends on a file

Run from tests/, as `make` does.
"""

from __future__ import annotations

import argparse
import datetime
import heapq
import json
import platform
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path

import pytest

from proof.closure import EVERYTHING, LEDGER, Closure, Part, read_kept, write_kept
from proof.ledger import Ledger
from proof.plugin import KEPT, lines, noted
from proof.tree import Tree

ROOT = Path(__file__).parents[2]
FOLDER = Path("build") / "proof"
AGAIN = 5  # entries of the ledger that .ci/run tries anew
BEYOND = "slow or horovod"  # what `make test`, which ran before, has left out
HUNDRED = 100
SOME = 12  # names that a summary tells
GRACE = 30.0  # seconds for tests to end when the time is over
ONCE_MORE = ("--last-failed", "--last-failed-no-failures", "none")


class Project:
    """The tests as they are here, and what the ledger says of them."""

    def __init__(self) -> None:
        (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
        self.kept = read_kept(ROOT / KEPT)
        self.closure = Closure(Tree.working(ROOT), self.kept)
        self.ledger = Ledger.read(ROOT / LEDGER)

    @cached_property
    def hashes(self) -> dict[Part, str]:
        return self.hashed(self.closure)

    def hashed(self, closure: Closure) -> dict[Part, str]:
        found = {part: closure.hash(part, *versions()) for part in closure.parts()}
        write_kept(ROOT / KEPT, self.kept)
        return found

    def unproven(self) -> list[Part]:
        return [part for part, hash in self.hashes.items() if not self.ledger.proves(part, hash)]

    def affected(self, commit: str) -> tuple[list[Part], list[Part]]:
        """The parts that depend on what has changed since a commit; and apart from these, the parts that depend on a
        changed exercise only as they do on many, so that nobody waits for them."""
        closure = Closure(Tree.at(ROOT, commit), self.kept)
        both = ((self.closure, closure.files), (closure, self.closure.files))
        changed = {path for mine, other in both for path, id in mine.files.items() if other.get(path) != id}
        if closure.files.keys() == self.closure.files.keys():  # then whoever depended on one of these does so now
            parts = [part for part in self.closure.parts() if not changed.isdisjoint(self.closure.of(part))]
            write_kept(ROOT / KEPT, self.kept)
        else:
            before = self.hashed(closure)
            parts = [part for part, hash in self.hashes.items() if before.get(part) != hash]
        exercises = {path: self.closure.exercise_of(path) for path in changed}
        known, far = {*closure.parts()}, []
        for part in parts:
            reached = {*exercises.values()}
            if len(reached) > 1:
                files = {*self.closure.of(part), *(closure.of(part) if part in known else ())}
                reached = {exercises[path] for path in files & changed}
            if "" not in reached and not any(self.closure.is_about(part, exercise) for exercise in reached):
                far.append(part)
        return [part for part in parts if part not in {*far}], far

    def in_order(self, parts: Iterable[Part], commit: str = "") -> list[Part]:
        """Those next to what has changed since a commit, by default that of the ledger; then the oldest proofs."""
        near = distances(self.closure, changed_since(commit or last_written()))
        return sorted(parts, key=lambda part: (near.get(part, len(near)), self.ledger.day(part), str(part)))

    def note(self, parts: Iterable[Part]) -> int:
        """Into the ledger what has passed, unless a file was changed meanwhile."""
        today = datetime.date.today().isoformat()
        now = Project()
        passed = {part: now.hashes[part] for part in parts if now.hashes.get(part) == self.hashes.get(part)}
        now.ledger.keep(now.hashes)
        now.ledger.add(passed, today)
        now.ledger.write(ROOT / LEDGER)
        return len(passed)


@cache
def versions() -> tuple[str, ...]:
    """What no file here says: which Python, which torch."""
    return platform.python_version(), version("torch").partition("+")[0]


def last_written() -> str:
    """The commit that brought the ledger's last change; "" without a history."""
    return _git("log", "-1", "--format=%H", "--", LEDGER)


def changed_since(commit: str) -> set[str]:
    return {*_git("diff", "--name-only", commit).splitlines()} - {LEDGER} if commit else set()


def distances(closure: Closure, changed: set[str]) -> dict[Part, int]:
    """How many steps a part's module is away from the nearest of these files; EVERYTHING is near to all. A step from
    what has hundreds of files, as a test that reads all of the package, counts as several. A module that has a file's
    name is at most one away: test_kept.py has its kept.py by way of all that checks."""
    to: dict[str, list[tuple[int, str]]] = {}
    seen = deque(closure.modules)
    found: set[str] = set(seen)
    while seen:
        node = seen.popleft()
        edges = closure.edges(node)
        for other in edges:
            to.setdefault(other, []).append((1 + len(edges) // HUNDRED, node))
            if other not in found:
                found.add(other)
                seen.append(other)
    steps: dict[str, int] = {}
    waiting = [(0, path) for path in sorted(changed - {*EVERYTHING})]
    while waiting:
        step, node = heapq.heappop(waiting)
        if node not in steps:
            steps[node] = step
            for more, before in to.get(node, ()):
                heapq.heappush(waiting, (step + more, before))
    named = tuple(f"test_{Path(path).stem}" for path in changed)
    steps |= {module: min(1, steps.get(module, 1)) for module in closure.modules if Path(module).stem.startswith(named)}
    about = {part: steps.get(f"exercise:{part.of}", steps.get(f"unit:{part.of}")) for part in closure.parts()}
    own = {part: steps.get(part.module) for part in closure.parts()}
    return {part: d for part in own for d in [about[part] if about[part] is not None else own[part]] if d is not None}


@dataclass(frozen=True)
class Outcome:
    """Of a run of pytest."""

    code: int
    passed: list[Part]
    failed: list[str]  # tests
    over: bool  # the time was over before all had run

    @property
    def exit_code(self) -> int:
        """Where time was over, that of what has run; none of the tests that a mark asks for (5) is well."""
        return int(bool(self.failed)) if self.over or self.code == pytest.ExitCode.NO_TESTS_COLLECTED else self.code


def run(
    parts: Sequence[Part],
    *more: str,
    marks: str = "",
    until: float | None = None,
    workers: int = 2,
    watched: bool = True,
) -> Outcome:
    """``watched``: a part that reads what it does not name is not proven."""
    plan = ROOT / FOLDER / "plan.json"
    files = {"noted": FOLDER / "noted.jsonl", "failed": FOLDER / "failed.jsonl"}
    for file in files.values():
        (ROOT / file).unlink(missing_ok=True)
    named = {name: str(file) for name, file in files.items()}
    plan.write_text(
        json.dumps({"parts": [*map(str, parts)], "marks": marks, "until": until, "watched": watched, **named})
    )
    modules = sorted({part.module for part in parts})  # the plugin puts the tests in order
    words = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "--dist", "loadgroup"]
    words += ["--no-loadscope-reorder", f"--proof={plan}"]  # by itself xdist begins with the largest groups
    words += ["-m", marks] if marks else []
    with subprocess.Popen([*words, *more, *modules], cwd=ROOT) as tests:
        over = not _ends(tests, until)
    over = over or bool(until and time.time() > until)
    failed = [json.loads(line) for line in lines(ROOT / files["failed"])]
    return Outcome(tests.returncode, noted(ROOT / files["noted"]), failed, over)


def _ends(tests: subprocess.Popen[bytes], until: float | None) -> bool:
    """Whether pytest ends by itself: it looks at the time when a test ends, and the last one may be long."""
    try:
        tests.wait(until and max(0.0, until - time.time()) + GRACE)
    except subprocess.TimeoutExpired:
        tests.send_signal(signal.SIGINT)
        try:
            tests.wait(GRACE)
        except subprocess.TimeoutExpired:
            tests.kill()
        return False
    return True


def told(parts: Sequence[Part]) -> str:
    """How many, and in which modules."""
    count = Counter(part.module for part in parts)
    names = [f"{module} ({n})" if n > 1 else module for module, n in count.most_common(SOME)]
    more = f" and {len(count) - SOME} more modules" if len(count) > SOME else ""
    return f"{len(parts):,} unproven" + (f": {', '.join(names)}{more}" if parts else "")


def affected(words: argparse.Namespace) -> int:
    project = Project()
    near, far = project.affected(words.since)
    parts = project.in_order(near, words.since)
    print(f"==> {len(parts):,} parts of {len({p.module for p in parts})} test modules are affected since {words.since}")
    code = run(parts, *words.pytest, watched=False).exit_code if parts else 0
    if far:
        print(f"==> not tried: {len(far):,} parts that go through many exercises (.ci/run and make test-all try them)")
    return code


def everything(words: argparse.Namespace) -> int:
    project, until = Project(), time.time() + words.within if words.within else None
    parts = project.in_order(project.unproven())
    done = run(parts, *words.pytest, until=until) if parts else Outcome(0, [], [], False)
    print(f"==> {project.note(done.passed):,} parts proven now")
    print(f"==> {told(Project().unproven())}")
    return done.exit_code


def ci(words: argparse.Namespace) -> int:
    """Green if all that ran has passed, also where the time was over before the rest."""
    project, until = Project(), time.time() + words.within
    parts = project.in_order(project.unproven())
    again = [part for part in project.ledger.in_rotation(AGAIN) if part in project.hashes]
    code, passed = 0, set[Part]()
    for title, some, marks in (("proven, and tried anew", again, ""), ("unproven", parts, BEYOND)):
        if some and time.time() < until:
            print(f"==> {title}: {len(some):,} parts", flush=True)
            first = max(time.time() + 1, until - words.spare)
            done = run(some, *words.pytest, marks=marks, until=first, workers=3)
            passed |= {*done.passed}
            if done.failed:
                code = once_more(some, done, *words.pytest, marks=marks, until=until + words.spare) or code
            else:
                code = code or done.exit_code
    print(f"==> {told([part for part in parts if part not in passed])}")
    return code


def once_more(parts: Sequence[Part], done: Outcome, *more: str, marks: str, until: float) -> int:
    """The exit code after a second try, for which some of the time was spared, and as much again: a class of hostile
    answers takes long before the first of them is judged."""
    print("==> what failed, once more; each is a defect\n" + "\n".join(done.failed), flush=True)
    second = run(parts, *more, *ONCE_MORE, marks=marks, until=until)
    return 1 if second.over else second.exit_code


def unproven(words: argparse.Namespace) -> int:
    project = Project()
    parts = project.in_order(project.unproven())
    print(*map(str, parts), sep="\n")
    print(f"==> {told(parts)}")
    return 0


def why(words: argparse.Namespace) -> int:
    steps = Project().closure.way(Part.named(words.part), words.file)
    print("\n  → ".join(steps) or f"{words.part} does not depend on {words.file}.")
    return 0


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m proof", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("affected")
    one.add_argument("--since", default="HEAD")
    one.set_defaults(run=affected)
    for name, function in (("all", everything), ("ci", ci), ("unproven", unproven)):
        one = commands.add_parser(name)
        one.add_argument("--within", type=float, default=None if name == "all" else 3600.0)
        one.add_argument("--spare", type=float, default=300.0, help="seconds of these, to try once more what fails")
        one.set_defaults(run=function)
    one = commands.add_parser("why")
    one.add_argument("part")
    one.add_argument("file")
    one.set_defaults(run=why)
    known, rest = parser.parse_known_args(words)
    known.pytest = rest
    return int(known.run(known))


if __name__ == "__main__":
    sys.exit(main())
