"""``lockstep lab``: JupyterLab on the course's front page. It replaces this process, so that Ctrl-C is JupyterLab's."""

from __future__ import annotations

import argparse
import os
import sys

from lockstep.grading.course import root


def lab(args: argparse.Namespace) -> int:
    command = [sys.executable, "-m", "jupyterlab", *options(), *args.others]
    sys.stdout.flush()
    os.execve(command[0], command, os.environ | {"JUPYTER_CONFIG_PATH": config_path()})


def config_path() -> str:
    """The course's settings of JupyterLab, before what the user has: no question about news, no call to the network."""
    return os.pathsep.join(filter(None, [str(root() / "course" / ".jupyter"), os.environ.get("JUPYTER_CONFIG_PATH")]))


def options() -> list[str]:
    """JupyterLab's options; the learner's own come after them and win. Its token stays as JupyterLab makes it."""
    chosen = [
        f"--ServerApp.root_dir={root()}",
        "--LabApp.default_url=/lab/tree/course/index.ipynb",
    ]
    if os.geteuid() == 0:
        chosen.append("--allow-root")
    if sys.platform.startswith("linux") and not _has_display():
        chosen.append("--no-browser")  # it prints the address instead
    return chosen


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("WSL_DISTRO_NAME"))
