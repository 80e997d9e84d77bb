"""Started by torchrun: the same sweep as in the other worlds, on the ranks that the launcher has made."""

import os
import pickle
import sys
from pathlib import Path

from collective_cases import cases, sweep

from lockstep.worlds import run

if __name__ == "__main__":
    K = int(os.environ["WORLD_SIZE"])
    result = run(sweep, cases(K))
    if os.environ["RANK"] == "0":
        Path(sys.argv[1]).write_bytes(pickle.dumps((result.values, result.trace.counts(), result.trace.world)))
