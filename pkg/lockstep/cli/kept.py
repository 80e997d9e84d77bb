"""What `lockstep run` keeps of a run: its trace, and where it fails the dumps of a flight recorder."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lockstep.cli.rank import is_rank_zero
from lockstep.errors import UsageError
from lockstep.events import Trace
from lockstep.flight_recorder import PREFIX, dump, reader

# Where torch's own recorder writes, if they are set: a path to which each rank adds its number. The first one counts.
VARIABLES = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")


@dataclass(frozen=True)
class Kept:
    """Checked before the run, so that nothing is lost after it."""

    trace: Path | None
    dumps: Path | None  # a folder
    prefix: str = PREFIX

    @classmethod
    def asked_for(cls, args: argparse.Namespace) -> Kept:
        """``--trace OUT.json``, and ``--dumps DIR`` or torch's variables. Raises UsageError for what cannot be
        written."""
        trace = Path(args.trace) if args.trace is not None else None
        if trace and (trace.is_dir() or not os.access(trace if trace.exists() else trace.absolute().parent, os.W_OK)):
            raise UsageError(f"The trace cannot be written to {trace}.", "Name a file in a folder that is yours.")
        if args.dumps is not None:
            return cls(trace, checked(Path(args.dumps), "--dumps"))
        for name in VARIABLES:
            if path := os.environ.get(name):
                return cls(trace, checked(Path(path).parent, name), Path(path).name)
        return cls(trace, None)

    def after_success(self, trace: Trace) -> None:
        if self.trace is not None and is_rank_zero():
            print(self._write(self.trace, trace))

    def after_failure(self, trace: Trace | None) -> Iterator[str]:
        """Write what there is until then, and say where it lies."""
        if trace is None or not is_rank_zero():
            return
        try:
            yield from self._written(trace)
        except OSError as error:  # the run's own error is what is to be told
            yield f"What there was of the run could not be written: {error.strerror}."

    def _written(self, trace: Trace) -> Iterator[str]:
        if self.trace is not None:
            yield self._write(self.trace, trace)
        if self.dumps is not None and trace.communication:
            dump(trace, self.dumps, self.prefix)
            yield f"{self.dumps}: the dumps of a flight recorder, for\n{reader(self.dumps, self.prefix)}"
        elif self.dumps is not None:
            yield "No rank has communicated, so a flight recorder has nothing to dump."

    def _write(self, file: Path, trace: Trace) -> str:
        file.write_text(trace.to_chrome())
        return f"{file}: open it with `lockstep show {file}`, or on https://ui.perfetto.dev"


def checked(folder: Path, name: str) -> Path:
    """Raise UsageError unless ``folder`` can be written to, or made."""
    nearest = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise UsageError(f"{name}: dumps cannot be written to {folder}.", "Name a folder that is yours.")
    return folder
