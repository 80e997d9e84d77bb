"""``lockstep with tensorflow`` and ``lockstep with lightning``: a framework in an environment of its own."""

from __future__ import annotations

import argparse
import sys

from lockstep.cli.agreed import agreed
from lockstep.installs import environments
from lockstep.installs.frameworks import framework
from lockstep.tally import Terminal


def with_framework(args: argparse.Namespace) -> int:
    of = framework(args.framework)
    if not environments.ready(of):
        size = f"{of.shown} {of.version} gets an environment of its own: {of.size}."
        if args.yes:
            print(size, flush=True)
        elif not agreed(f"{of.shown} has to be installed", f"{size} Set it up?", of.command):
            print("Nothing was installed.")
            return 0
        with Terminal(sys.stdout) as terminal:
            environments.provide(of, terminal.tell)
    print(f"{of.shown} {of.version} is installed in {environments.folder(of)}.")
    return 0
