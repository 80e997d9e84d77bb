"""``lockstep lab``: your copy of the course, and JupyterLab on its front page.

JupyterLab replaces this process, so that Ctrl-C is JupyterLab's. Where a JupyterHub has started it, the hub's own
server does (``jupyterhub-singleuser``: JupyterLab, to which the hub lets nobody in but whose it is)."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from lockstep.distribution import install
from lockstep.errors import UsageError
from lockstep.grading.course import root, search_path
from lockstep.grading.material import SETTINGS
from lockstep.grading.working_folder import Brought, bring, working_folder

FRONT_PAGE = "course/index.ipynb"
LABS = "labs"  # of a course without a front page


def lab(args: argparse.Namespace) -> int:
    server = program()
    named = args.others[:1] if args.others and not args.others[0].startswith("-") else []
    folder = Path(os.path.expanduser(named[0])) if named else working_folder(root())
    for sentence in sentences(bring(root(), folder), folder):
        print(sentence)
    command = [sys.executable, "-m", server, *options(folder), *args.others[len(named) :]]
    if not under_a_hub():
        print("JupyterLab starts: some ten seconds …")
    sys.stdout.flush()
    os.execve(command[0], command, os.environ | surroundings(folder))


def sentences(brought: Brought, folder: Path) -> Iterator[str]:
    """What a learner should know of what has come into the folder. What was updated without a loss is not mentioned."""
    if brought.first:
        yield f"Your copy of the course is in {folder}."
    elif brought.copied:
        yield f"New in {folder}: {', '.join(brought.copied)}."
    for mine, new in brought.beside.items():
        yield f"{mine} stays as you left it; the new version stands beside it: {Path(new).name}."
    if brought.used:
        files = " ".join(brought.used)
        yield f"Somebody has worked in Lockstep's own {', '.join(brought.used)}: that work has come along."
        yield f"To make Lockstep's own files new again: cd {shlex.quote(str(root()))} && git checkout -- {files}"


def config_path(folder: Path) -> str:
    """Settings before what the user has: the folder's nbgrader, for JupyterLab's list of assignments; the course's
    JupyterLab, which asks no question about news and calls no network."""
    settings = [str(folder.resolve()), str(root() / SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH")]
    return os.pathsep.join(filter(None, settings))


def surroundings(folder: Path) -> dict[str, str]:
    """What JupyterLab gets besides this process's environment: its settings, and for its terminals the commands."""
    return {"JUPYTER_CONFIG_PATH": config_path(folder), "PATH": search_path()}


def shell() -> str:
    """What terminals run. Jupyter's own choice, where no terminal has started it, is a login shell, whose profile sets
    another PATH."""
    return os.environ.get("SHELL") or shutil.which("bash") or "sh"


def under_a_hub() -> bool:
    """Whether a JupyterHub has started this process; its environment then says where to listen and whom to ask."""
    return "JUPYTERHUB_SERVICE_URL" in os.environ


def program() -> str:
    """The module that serves."""
    if not under_a_hub():
        if importlib.util.find_spec("jupyterlab") is None:
            raise UsageError("JupyterLab is not installed beside Lockstep.", f"Install it there: {install('course')}")
        return "jupyterlab"
    if 0 in (os.getuid(), os.geteuid()):
        raise UsageError(
            "A JupyterHub has started this as root, and whoever uses the page would be root.",
            "docs/hub.md of Lockstep says how a hub starts it for its users.",
        )
    if importlib.util.find_spec("jupyterhub") is None:
        raise UsageError(
            "A JupyterHub has started this, and jupyterhub is not installed beside Lockstep.",
            f"Install it there: {install('hub')}",
        )
    return "jupyterhub.singleuser"


def first_page(folder: Path) -> str:
    labs_alone = (folder / LABS).is_dir() and not (folder / FRONT_PAGE).is_file()
    return f"/lab/tree/{LABS if labs_alone else FRONT_PAGE}"


def options(folder: Path) -> list[str]:
    """JupyterLab's options; the learner's own come after them and win. Its token stays as JupyterLab makes it."""
    chosen = [f"--ServerApp.root_dir={folder.resolve()}", f"--ServerApp.terminado_settings=shell_command={shell()}"]
    chosen.append(
        f"--LabApp.extra_labextensions_path={root() / SETTINGS / 'labextensions'}"
    )  # a tab is called by its unit
    if under_a_hub():
        return [*chosen, f"--ServerApp.default_url={first_page(folder)}"]
    if os.getuid() == os.geteuid() == 0:  # who has typed this is root
        chosen.append("--allow-root")
    chosen.append(f"--LabApp.default_url={first_page(folder)}")
    chosen += ["--log-level=ERROR", "--LabApp.log_level=ERROR"]  # address.py says where it is
    if sys.platform.startswith("linux") and not _has_display():
        chosen.append("--no-browser")  # it prints the address instead
    return chosen


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("WSL_DISTRO_NAME"))
