"""A file that torchrun starts on every rank: all cases of the pipeline beside one rank, as JSON from rank 0."""

import json
import os

from lockstep.experiments.pipeline.equality import beside_one_rank
from lockstep.launchers import spmd

if __name__ == "__main__":
    rows = beside_one_rank((spmd.detect().world_size,), "spmd")
    if os.environ["RANK"] == "0":
        print(json.dumps(rows))
