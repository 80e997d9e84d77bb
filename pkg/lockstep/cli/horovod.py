"""``lockstep horovod``: Horovod for the torch that is installed, built once and kept."""

from __future__ import annotations

import argparse
import sys

from lockstep.errors import UsageError
from lockstep.this_machine import checkup
from lockstep.with_horovod import installing
from lockstep.with_horovod.build import MINUTES
from lockstep.with_horovod.watching import Terminal

QUESTION = f"Horovod has to be built. This takes about {MINUTES} minutes on two cores. Build it? [Y/n] "


def horovod(args: argparse.Namespace) -> int:
    with Terminal(sys.stdout) as terminal:
        now = installing.provide(terminal.tell, compile=False)
    if now is None and args.cached:
        print(f"No Horovod for this torch is in {installing.root()}. `lockstep horovod` builds it.")
        return 0
    if now is None:
        if not (args.yes or _agreed()):
            print("Nothing was built.")
            return 0
        with Terminal(sys.stdout) as terminal:
            now = installing.provide(terminal.tell)
    print(now)
    for finding in (checkup.loopback(), checkup.hostname()):  # Horovod's ranks find each other by these
        if not finding.ok:
            print(f"{finding.value}. {finding.advice}")
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("Horovod has to be built, and nobody is here to be asked.", "Say `lockstep horovod --yes`.")
    return input(QUESTION).strip().lower() in ("", "y", "yes")
