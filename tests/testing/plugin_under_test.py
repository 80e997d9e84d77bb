"""How the plugin's tests run a small file of tests: in this process, by pytest's own fixture for tests of plugins."""

from importlib.metadata import entry_points

import pytest

from lockstep.testing import outside, pytest_plugin, recorded  # noqa: F401  # pytester forgets what its tests import

BY_ITSELF = entry_points(group="pytest11", name="lockstep")  # where this version is installed; else it is named
LOAD = [] if BY_ITSELF else ["-p", pytest_plugin.__name__]
PLUGIN = [*LOAD, "-p", "no:cacheprovider"]
HEAD = """
import logging, os, sys
import pytest, torch
import torch.distributed as dist
from lockstep.testing import no_collectives

on_ranks = pytest.mark.lockstep(on="dgx-a100")
"""


class Runner:
    """Runs a file of tests in this process, with the plugin."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester

    def __call__(self, tests: str, *options: str, **outcomes: int) -> str:
        """What pytest prints of ``tests``, whose outcomes are to be ``outcomes``."""
        self._pytester.makepyfile(test_it=HEAD + tests)
        result = self._pytester.runpytest_inprocess(*PLUGIN, *options)
        result.assert_outcomes(**outcomes)
        return result.stdout.str()
