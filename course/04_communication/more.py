# %% [markdown]
# # 04 Communication: more
#
# Two things for which the lesson has no room: GPUs in nodes, and traces in the viewer that professionals use.

# %%
import csv
from importlib.resources import files

import torch
import torch.distributed as dist

from lockstep import collectives, run

# %% [markdown]
# ## GPUs in nodes
#
# On a cluster there are two kinds of links: fast ones inside a node, slower ones between nodes. Here are 32 A100 in 4
# nodes, simulated from published numbers. Each GPU has a network card of its own. They sum 16 MiB, in two ways that you
# know, and in the way of NCCL. It takes about ten seconds.

# %%
tensor = torch.empty(2**22)  # 4 bytes each
ring, halves = collectives.ring_all_reduce, collectives.halving_doubling_all_reduce
for way in (ring, halves, dist.all_reduce):
    took = run(way, tensor, ranks=32, on="dgx-a100", fake=True).time
    print(f"{way.__name__:<28} {1e3 * took:6.2f} ms")

# %% [markdown]
# And here is what somebody measured with NCCL, on 32 GPUs in 4 nodes (*ml-engineering*, the network benchmarks; it does
# not name the GPU).

# %%
table = files("lockstep.bench") / "data" / "allreduce_busbw_measured.csv"
rows = csv.DictReader(line for line in table.read_text().splitlines() if line[0] != "#")
[row] = [r for r in rows if "4-node" in r["system"] and r["payload"] == "16MiB"]
print(f"{1e3 * 2**24 / (1e9 * float(row['algbw_GBps'])):.2f} ms")

# %% [markdown]
# Your ring takes several times as long as NCCL's `all_reduce`. It has one lane: in each round, the slowest hop of the
# ring is one network card, and the other cards of the node idle. NCCL lays several rings at once, one through each
# card. And your ring waits for 62 messages, one after another; NCCL cuts them into pieces that follow each other.

# %% [markdown]
# ## Traces in Perfetto
#
# Every run has a trace. Perfetto is where people look at the traces of PyTorch's profiler. This writes yours into a
# file beside this notebook:

# %%
result = run(ring, torch.ones(1_000_000), ranks=4, on="commodity-10g")
with open("ring.json", "w") as file:
    file.write(result.trace.to_chrome())

# %% [markdown]
# Open <https://ui.perfetto.dev> and load `ring.json`. It stays on your machine: the viewer works in your browser.
#
# What you write in the lab runs unchanged on real nodes:
# `torchrun --nproc-per-node 8 -m lockstep check communication.ring_all_reduce FILE`.
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/04_communication/lab.ipynb).
