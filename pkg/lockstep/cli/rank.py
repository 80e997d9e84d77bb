"""Under a launcher this command runs once on every rank, and one of them speaks for all."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

from lockstep.launchers.detection import detect


def under_launcher() -> bool:
    return detect() is not None


def is_rank_zero() -> bool:
    environment = detect()
    return environment is None or environment.rank == 0


@contextlib.contextmanager
def one_voice() -> Iterator[None]:
    """What is printed in here is heard from rank 0 alone."""
    with contextlib.nullcontext() if is_rank_zero() else contextlib.redirect_stdout(io.StringIO()):
        yield
