"""A fresh notebook kernel: its first run(), some time after it has taken ``run`` from the package.

usage: in_notebook.py RANKS     prints {"notebook": seconds} as JSON

The server of ranks loads torch from the import on. A person reads meanwhile: READING.
"""

import json
import sys
import time
from typing import Any

from jupyter_client.manager import start_new_kernel

READING = 10.0  # seconds
LIMIT = 120.0

TAKEN = """
import time
import torch
import torch.distributed as dist
from lockstep import run

def first_result():
    x = torch.ones(1)
    dist.all_reduce(x)
    return x.item()
"""
TIMED = """
begin = time.monotonic()
assert run(first_result, ranks={ranks}).values == [{ranks}] * {ranks}
print(time.monotonic() - begin)
"""


def main(ranks: int) -> None:
    manager, client = start_new_kernel()
    said: list[str] = []

    def heard(message: dict[str, Any]) -> None:
        said.extend([message["content"]["text"]] if message["msg_type"] == "stream" else [])

    try:
        client.execute_interactive(TAKEN, timeout=LIMIT, output_hook=heard)
        time.sleep(READING)
        client.execute_interactive(TIMED.format(ranks=ranks), timeout=LIMIT, output_hook=heard)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    print(json.dumps({"notebook": float("".join(said))}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
