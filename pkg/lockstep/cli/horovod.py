"""``lockstep horovod``: Horovod for the torch that is installed, built once and kept."""

from __future__ import annotations

import argparse
import sys

from lockstep.cli.agreed import agreed
from lockstep.tally import Terminal
from lockstep.this_machine import doctor
from lockstep.with_horovod import installing
from lockstep.with_horovod.installing import MINUTES

QUESTION = f"Horovod has to be built. This takes about {MINUTES} minutes on two cores. Build it?"


def horovod(args: argparse.Namespace) -> int:
    with Terminal(sys.stdout) as terminal:
        now = installing.provide(terminal.tell, compile=False)
    if now is None and args.cached:
        print(f"No Horovod for this torch is in {installing.root()}. `lockstep horovod` builds it.")
        return 0
    if now is None:
        if not (args.yes or agreed("Horovod has to be built", QUESTION, installing.AGAIN)):
            print("Nothing was built.")
            return 0
        with Terminal(sys.stdout) as terminal:
            now = installing.provide(terminal.tell)
    print(now)
    for finding in (doctor.loopback(), doctor.hostname()):  # Horovod's ranks find each other by these
        if not finding.ok:
            print(f"{finding.value}. {finding.advice}")
    return 0
