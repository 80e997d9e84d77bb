"""Which seeds a check draws its inputs from: published ones for a learner, secret ones under grading.

A learner's seeds never change, so that a failure can be looked at again. Under grading they come from a secret, in
this order: the environment variable LOCKSTEP_SEED; or, under ``nbgrader autograde``, the file ``grading_seed`` in
`lockstep.progress.home()`, drawn at random the first time that it is needed. Neither is ever in a student's tree.

What this cannot do: a submission runs as the grader's user under plain nbgrader and could read the file, and code in
the same process as the check could forge its trace. `docs/trust.md` says what to do where grades depend on it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from lockstep import progress

PUBLISHED = "published"


def under_autograde() -> bool:
    """Whether nbgrader is grading a submission right now (it sets this variable for the kernel)."""
    return os.environ.get("NBGRADER_EXECUTION") == "autograde"


def secret() -> str:
    """What the seeds are drawn from."""
    if os.environ.get("LOCKSTEP_SEED"):
        return os.environ["LOCKSTEP_SEED"]
    return _from_file(secret_file()) if under_autograde() else PUBLISHED


def secret_of_grader() -> str:
    """The same for a whole class, outside of nbgrader: what ``nbgrader autograde`` would take, too."""
    return os.environ.get("LOCKSTEP_SEED") or _from_file(secret_file())


def secret_of_student(secret: str, student: str) -> str:
    """One of their own, so that nobody can tell another what comes."""
    return hashlib.sha256(f"{secret}/student/{student}".encode()).hexdigest()


def secret_file() -> Path:
    return progress.home() / "grading_seed"


def _from_file(path: Path) -> str:
    """The secret in ``path``; the first of several processes that need it writes it, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_hex(16))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()


def seed(exercise: str, ranks: int) -> int:
    """The seed of an exercise's cases on so many ranks: 48 bits of a hash, so that one does not betray another."""
    text = f"{secret()}/{exercise}/{ranks}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
