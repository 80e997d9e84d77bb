"""A right answer that writes to standard error whatever it can: full marks."""

import logging
import sys
import warnings


def amdahl(p, s):
    warnings.warn("a warning")
    logging.error("an error that is none")
    print("noise", file=sys.stderr)
    return 1 / ((1 - p) + p / s)
