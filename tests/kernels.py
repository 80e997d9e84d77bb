"""Kernels of tests: their sockets are files, as ``jupyter_config.py`` says, which Jupyter's programs read by
themselves."""

from __future__ import annotations

from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

SETTINGS = Path(__file__).parent


def settings() -> Config:
    """For one kernel, in a folder of its own."""
    return PyFileConfigLoader("jupyter_config.py", str(SETTINGS)).load_config()


def started(folder: Path) -> tuple[KernelManager, BlockingKernelClient]:
    """A kernel in ``folder``, and whoever talks to it."""
    manager = KernelManager(config=settings())
    manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return manager, client
