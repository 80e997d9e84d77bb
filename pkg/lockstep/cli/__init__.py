"""The ``lockstep`` command. Each command is a function of its own module here; they import what they need when called.

Whatever goes wrong is reported in one sentence on stderr. Exit codes: 0 done; 1 the learner's code is wrong or failed;
2 the command was not used as it must be; 3 this machine could not do it; 130 stopped by Ctrl-C; 141 nobody reads.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from lockstep import distribution
from lockstep.cli.parser import parse
from lockstep.errors import LockstepError, UsageError, WorldUnavailable
from lockstep.shadows import advice, shadow_of

OK, FAILED, USAGE, UNAVAILABLE, INTERRUPTED, UNREAD = 0, 1, 2, 3, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    try:
        args = parse(argv)
        code: int = args.command(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("lockstep: stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return _nobody_reads()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        return _no_room(error)
    except (ImportError, AttributeError) as error:
        if file := shadow_of(error):
            return _tell(advice(file), USAGE)
        if module_and_extra := distribution.missing(error):
            return _tell(distribution.advice(*module_and_extra), UNAVAILABLE)
        raise
    except UsageError as error:
        return _tell(error, USAGE)
    except WorldUnavailable as error:
        return _tell(error, UNAVAILABLE)
    except LockstepError as error:
        return _tell(error, FAILED)


def _tell(sentence: object, code: int) -> int:
    """Under a launcher every rank comes here, and rank 0 speaks."""
    if _speaks():
        print(f"lockstep: {sentence}", file=sys.stderr)
    return code


def _speaks() -> bool:
    try:
        from lockstep.cli.rank import is_rank_zero
    except (ImportError, AttributeError):  # it is what is to be told
        return os.environ.get("RANK", "0") == "0"
    return is_rank_zero()


def _nobody_reads() -> int:
    """stdout was closed, as by ``| head``."""
    _sink()
    return UNREAD


def _no_room(error: OSError) -> int:
    """A disk is full, perhaps the one that stdout goes to."""
    where = f"for {error.filename}" if error.filename else "that this command writes to"
    try:
        sys.stdout.flush()
    except OSError:
        _sink()
    return _tell(f"There is no room on the disk {where}.\nMake room there, and run it again.", UNAVAILABLE)


def _sink() -> None:
    """For stdout: Python would complain once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
