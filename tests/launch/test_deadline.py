"""What a rank may still do when the launcher ends it."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import os, signal, time
    from lockstep.launch import deadline

    deadline.LAST_WORDS = 0.5

    def launcher_ends_it():
        os.kill(os.getpid(), signal.SIGTERM)

    for turn in range(2):  # the second run is as the first
        try:
            with deadline.terminable():
                launcher_ends_it()
        except deadline.Terminated:
            print("why", flush=True)
    try:
        with deadline.terminable():
            raise RuntimeError("rank 0 is gone")
    except RuntimeError as error:
        {before}
        launcher_ends_it()
        print(error, flush=True)
    time.sleep(60)
"""


def ends(before: str = "pass") -> tuple[list[str], int]:
    program = textwrap.dedent(PROGRAM).format(before=before)
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=100, check=False)
    return done.stdout.splitlines(), done.returncode


@pytest.mark.slow
def test_a_rank_tells_the_error_that_it_knows_and_then_it_ends() -> None:
    """torchrun sees the death of rank 0 when the others do: its SIGTERM came before they had told of it."""
    assert ends() == (["why", "why", "rank 0 is gone"], -15)


@pytest.mark.slow
def test_the_second_signal_ends_it_at_once() -> None:
    assert ends(before="launcher_ends_it()") == (["why", "why"], -15)
