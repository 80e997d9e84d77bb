"""Has the virtual cluster become slower since a commit? The same programs on both, in turn: old, new, old, new.

The commit is checked out into a temporary git worktree. Each side runs in its own process, which imports Lockstep from
its own tree. CPU seconds of the simulation's process count, never wall time; and since other programs disturb even
those, each new run is compared with the old one just before it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from lockstep.bench.launch import PROGRAMS, printed_by
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Measured, Size
from lockstep.errors import UsageError, WorldUnavailable

RANKS: Mapping[Size, tuple[int, ...]] = {"quick": (4,), "normal": (4, 16, 64, 256), "full": (4, 16, 64, 256, 1024)}
MESSAGES: Mapping[Size, int] = {"quick": 50, "normal": 8_000, "full": 40_000}  # of each program: 10 to 20 s a round
REPEATS: Mapping[Size, int] = {"quick": 1, "normal": 5, "full": 5}
LIMIT = 1800.0  # seconds of one round of one side

PACKAGE = PROGRAMS.parents[1]  # pkg/lockstep


def table(commit: str, size: Size) -> Table:
    """Raises UsageError where there is no such commit or no git, WorldUnavailable where the old tree fails."""
    with checked_out(commit) as tree:
        program = Path(shutil.copy(PROGRAMS / "on_virtual_cluster.py", tree.parent))
        old, new = tree / "pkg", PACKAGE.parent
        found = [(seconds(program, old, size), seconds(program, new, size)) for _ in range(REPEATS[size])]
    notes = [
        f"Old is {commit}, new is this tree as it is. CPU seconds of the simulation: medians of {len(found)} rounds.",
        "Ratio: the median over the rounds of new by old, which ran just before it.",
    ]
    return Table(f"virtual: against {commit}", compared(found), notes)


def seconds(program: Path, pkg: Path, size: Size) -> Measured:
    """The cost of each algorithm of ``program`` with the Lockstep in ``pkg``. The program is outside both trees: inside
    one it would be a part of the library, and each of its operations would search for a learner's line."""
    arguments = [MESSAGES[size], *RANKS[size]]
    printed = printed_by([str(program), *map(str, arguments)], pkg, LIMIT)
    if Path(printed["lockstep"]).resolve() != (pkg / "lockstep").resolve():
        raise WorldUnavailable(f"Python imported the Lockstep of {printed['lockstep']} in place of the one in {pkg}.")
    measured: Measured = printed["seconds"]
    return measured


def compared(found: Sequence[tuple[Measured, Measured]]) -> list[Row]:
    """A row for each program, and a last one for all of them. ``found``: old and new of each round."""
    rows = [row(name, [(old[name], new[name]) for old, new in found]) for name in found[0][0]]
    return [*rows, row("all", [(sum(old.values()), sum(new.values())) for old, new in found])]


def row(name: str, pairs: Sequence[tuple[float, float]]) -> Row:
    return {
        "program": name,
        "old [CPU s]": median(old for old, _ in pairs),
        "new [CPU s]": median(new for _, new in pairs),
        "ratio": median(new / old for old, new in pairs),
    }


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A temporary worktree of that commit. It is removed at the end, also after Ctrl-C."""
    root = checkout()
    if git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}").returncode:
        raise UsageError(f"There is no commit {commit!r} in {root}.", "Choose one that `git log --oneline` shows.")
    with tempfile.TemporaryDirectory(prefix="lockstep-against-") as folder:
        tree = Path(folder) / "tree"
        try:
            added = git(root, "worktree", "add", "--detach", str(tree), commit)
            if added.returncode:
                raise WorldUnavailable(f"git could not check out {commit}: {added.stderr.strip().splitlines()[-1]}")
            yield tree
        finally:
            git(root, "worktree", "remove", "--force", str(tree))


def checkout() -> Path:
    """The git checkout that this Lockstep runs from. Raises UsageError if it was installed without one."""
    found = git(PACKAGE, "rev-parse", "--show-toplevel")
    root = Path(found.stdout.strip())
    if found.returncode or not (root / "pkg" / "lockstep").is_dir() or not PACKAGE.samefile(root / "pkg" / "lockstep"):
        raise UsageError(
            "--against compares with a commit, and this Lockstep does not run from a git checkout.",
            "Clone the repository, install it with `pip install -e .`, and run the benchmark there.",
        )
    return root


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise UsageError("--against needs git, and it is not installed here.", "Install git.") from None
