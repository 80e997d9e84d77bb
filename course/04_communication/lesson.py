# %% [markdown]
# # 04 Communication
#
# Several machines learn one model. Each computes a gradient on its own data. Before anyone can take a step, all of them
# need the **sum** of these gradients. How do you add up tensors that lie on different machines, and how long does it
# take?
#
# Start with a number of your own.

# %%
from lockstep import predict

predict(
    "communication-star-over-ring",
    "4 ranks hold 16 MB each, and all want the sum. Way A: rank 0 collects everything and sends the sum back. "
    "Way B: the ranks pass pieces round a ring. How many times longer does A take than B?",
    unit="times",
)

# %% [markdown]
# Commit it. A guess is fine: you will find out what decides it. You will simulate both ways on a virtual cluster,
# measure both on this machine, and explain the difference at the end.
#
# In the course's formula $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$ every rank computes its own $\Delta$.
# This unit is about $F$: bringing the updates together.

# %% [markdown]
# ## 1. Ranks share nothing
#
# Threads of one program share their memory: what one writes, the others read. Machines do not. A **rank** is one of
# `world size` programs that run the same function, each with memory of its own. `run` starts them.

# %%
import torch
import torch.distributed as dist

from lockstep import run

notes = []


def remember():
    notes.append(dist.get_rank())
    return notes


result = run(remember, ranks=3)
print("what the ranks returned:", result.values)
print("what we have here:      ", notes)

# %% [markdown]
# Every rank had its own copy of `notes`. What a rank wants others to know, it must **send**.
#
# Outside `run` there are no ranks. So you hand over the function, `run(remember, ranks=3)`, and do not call it.

# %% [markdown]
# ## 2. Messages
#
# A message needs two: one that sends, one that receives. Here rank 0 pushes a tensor to rank 1. Then rank 1 pulls one
# from rank 0: it asks, and gets an answer. A pull is two messages.


# %%
def push_and_pull():
    x = torch.arange(4.0)
    request = torch.zeros(1)
    if dist.get_rank() == 0:
        dist.send(10 * x, dst=1)  # push
        dist.recv(request, src=1)  # wait for the question ...
        dist.send(100 * x, dst=1)  # ... and answer it
        return None
    pushed, pulled = torch.empty(4), torch.empty(4)
    dist.recv(pushed, src=0)
    dist.send(request, dst=0)  # pull
    dist.recv(pulled, src=0)
    return pushed.tolist(), pulled.tolist()


result = run(push_and_pull, ranks=2, on="virtual")
print(result.values[1])
result.show()

# %% [markdown]
# This is a **timeline**: one lane for each rank, time to the right, an arrow for each message. Point at a bar to see
# how many bytes it moved and which line of yours it comes from. Where a bar is pale, the message waits: for its other
# end, or for a port. Zoom with the wheel, or with + and −.
#
# It ran on a *virtual cluster*: the same function, in virtual time, on a model of this machine. A run on it is the same
# every time. `run(push_and_pull, ranks=2)` without `on` takes real processes. Nothing in the function changes.
# Curious? [How the virtual cluster works](../../docs/virtual-cluster.md).

# %% [markdown]
# `send` and `recv` are **synchronous**: they return when the transfer is over. `isend` and `irecv` are
# **asynchronous**: they return at once, and the transfer goes on while you do something else. What they return has a
# `wait()`. Until then, leave the tensor alone. A **barrier** waits until every rank has come to it.


# %%
def neighbours():
    rank, size = dist.get_rank(), dist.get_world_size()
    mine, theirs = torch.full((2,), float(rank)), torch.empty(2)
    sending = dist.isend(mine, dst=(rank + 1) % size)
    dist.recv(theirs, src=(rank - 1) % size)
    sending.wait()
    dist.barrier()
    return theirs.tolist()


print(run(neighbours, ranks=4, on="virtual").values)

# %% [markdown]
# ## 3. Patterns with a name
#
# The same few patterns come back in every distributed program. They are called **collectives**: all ranks of a group
# call them, in the same order. Look at what each rank has afterwards.

# %%
from IPython.display import Markdown, display


def patterns():
    rank, size = dist.get_rank(), dist.get_world_size()

    def mine():
        return torch.arange(size) + 10 * (rank + 1)

    seen = {"before": mine()}
    seen["broadcast from 0"] = mine()
    dist.broadcast(seen["broadcast from 0"], src=0)
    seen["reduce to 0"] = mine()
    dist.reduce(seen["reduce to 0"], dst=0)
    if rank != 0:
        seen["reduce to 0"] = "–"
    seen["all-reduce"] = mine()
    dist.all_reduce(seen["all-reduce"])
    seen["scatter from 0"] = torch.empty(1, dtype=torch.long)
    dist.scatter(seen["scatter from 0"], list(mine().split(1)) if rank == 0 else None, src=0)
    gathered = [torch.empty(size, dtype=torch.long) for _ in range(size)] if rank == 0 else None
    dist.gather(mine(), gathered, dst=0)
    seen["gather to 0"] = torch.cat(gathered) if rank == 0 else "–"
    seen["all-gather"] = torch.empty(size * size, dtype=torch.long)
    dist.all_gather_into_tensor(seen["all-gather"], mine())
    seen["reduce-scatter"] = torch.empty(1, dtype=torch.long)
    dist.reduce_scatter_tensor(seen["reduce-scatter"], mine())
    seen["all-to-all"] = torch.empty(size, dtype=torch.long)
    dist.all_to_all_single(seen["all-to-all"], mine())
    return {name: x if isinstance(x, str) else " ".join(map(str, x.tolist())) for name, x in seen.items()}


ranks = run(patterns, ranks=3, on="virtual").values
rows = [f"| {name} | " + " | ".join(r[name] for r in ranks) + " |" for name in ranks[0]]
Markdown("| | rank 0 | rank 1 | rank 2 |\n|---|---|---|---|\n" + "\n".join(rows))

# %% [markdown]
# Two of these make a third: an all-reduce is a **reduce-scatter**, then an **all-gather**. You will build it that way.
#
# A reduce **sums** unless you say otherwise. Some texts have it average. Forget that, and a gradient is K times too
# large. Ask for another operation by name:


# %%
def operations():
    results = {}
    for name in ("SUM", "MAX", "MIN", "PRODUCT"):
        x = torch.tensor([float(dist.get_rank() + 1)])
        dist.all_reduce(x, op=getattr(dist.ReduceOp, name))
        results[name] = x.item()
    return results


run(operations, ranks=4, on="virtual").values[0]

# %% [markdown]
# **Who speaks this language?** It comes from MPI, the standard of scientific computing since 1994. MPI says what an
# all-reduce *does*, not how. `torch.distributed` hands your calls to a **backend**, which decides how:
#
# | backend | where | what it can do |
# |---|---|---|
# | gloo | CPUs (this machine) | everything above; with tensors on a GPU, only some of it |
# | nccl | NVIDIA GPUs | everything above, from GPU to GPU; no receive from any source, no tags |
# | mpi | clusters with an MPI library | most of it; you must build PyTorch against that library yourself |
#
# What does this PyTorch have?

# %%
{"gloo": dist.is_gloo_available(), "nccl": dist.is_nccl_available(), "mpi": dist.is_mpi_available()}

# %% [markdown]
# ## 4. What does a message cost?
#
# Predict before you look.

# %%
predict(
    "communication-empty-message",
    "Two processes of this machine. How long does one message of 8 bytes take, from one to the other?",
    unit="µs",
)

# %% [markdown]
# A clock on rank 0 cannot tell when a message arrives at rank 1. So send it there and back, many times, and divide by
# two. `collectives.ping_pong` does that; you write your own in the lab. Measure several sizes:

# %%
from lockstep import collectives

sizes = [8, 2**10, 2**14, 2**16, 2**18, 2**20, 2**22]


def all_sizes():
    return [min(collectives.ping_pong(n, repeats=8) for _ in range(5)) for n in sizes]  # the best of five


measured = run(all_sizes, ranks=2).values[0]
simulated = run(all_sizes, ranks=2, on="virtual").values[0]
for n, m, s in zip(sizes, measured, simulated):
    print(f"{n:>10,} bytes    measured {1e6 * m:>9.1f} µs    simulated {1e6 * s:>9.1f} µs")

# %% [markdown]
# Small messages all cost about the same. Large ones cost in proportion to their size. One line describes both:
#
# $$t(n) = \alpha + n\beta$$
#
# **Alpha** is what a message costs before its first byte: seconds. **Beta** is what each byte adds: seconds per byte.
# This is the alpha-beta model (Hockney, 1994). Fit it to your measurements:

# %%
import matplotlib.pyplot as plt

from lockstep.cost.fit import fit_alpha_beta

alpha, beta = fit_alpha_beta(sizes, measured)
print(f"alpha = {1e6 * alpha:.1f} µs    beta = {1e9 * beta:.3f} ns per byte = {1e-9 / beta:.2f} GB/s")

figure, axes = plt.subplots(figsize=(7, 3.5))
axes.loglog(sizes, [1e6 * t for t in measured], "o", color="#0072B2", label="measured here")
axes.loglog(sizes, [1e6 * (alpha + n * beta) for n in sizes], "-", color="#D55E00", label="alpha + n·beta")
axes.axvline(alpha / beta, color="gray", linestyle=":", label=f"alpha / beta = {alpha / beta:,.0f} bytes")
axes.set(xlabel="bytes", ylabel="µs", title="A message between two processes of this machine")
axes.legend()
figure.tight_layout()

# %% [markdown]
# If your machine is busy, small messages take many times as long, and the line is poor. Then run these cells again when
# it is quiet.
#
# Left of the dotted line a message is mostly alpha: send **fewer** messages. Right of it, it is mostly beta: send
# **fewer bytes**. This one line decides which algorithm is best.

# %%
from lockstep import reconcile

reconcile("communication-empty-message", simulated=1e6 * simulated[0], measured=1e6 * measured[0])

# %% [markdown]
# The virtual cluster knows alpha and beta from a survey of this machine (`lockstep doctor --survey`). Why may a
# measurement differ from it today? What else was your machine doing?

# %% [markdown]
# ## 5. From one to all
#
# Rank 0 has a tensor that everybody needs. It can send it to each of the others. Or it can send it to one, and then
# *two* ranks have it, and can send it to two more.


# %%
def star():
    collectives.star_broadcast(torch.ones(250_000), src=0)  # 1 MB


def tree():
    collectives.tree_broadcast(torch.ones(250_000), src=0)


by_star, by_tree = run(star, ranks=8, on="commodity-10g"), run(tree, ranks=8, on="commodity-10g")
print(f"star {1e3 * by_star.time:.2f} ms, tree {1e3 * by_tree.time:.2f} ms")
by_star.show()

# %%
by_tree.show()

# %% [markdown]
# The star takes K−1 rounds: rank 0 has one way out, and it is busy all the time. The tree takes ⌈log₂ K⌉ rounds.
# Both move the same number of bytes, (K−1)·N. Only the waiting is different.
#
# Notes on this subject sometimes say that the star takes constant time. That would need a rank with K−1 network cards.

# %% [markdown]
# ## 6. Everybody wants the sum
#
# Now the all-reduce. The ring is the one that you must know. Cut the tensor into K chunks. Everyone sends a chunk to
# the right, all at the same time. Move the slider and watch one chunk on its way round.

# %%
from lockstep import show

show.ring(ranks=4)

# %% [markdown]
# After K−1 steps every rank holds one chunk that is complete. After 2(K−1) steps everyone has all of them. In each step
# each rank sends N/K bytes. So a rank sends 2(K−1)/K·N bytes in all: less than 2N, *however many ranks there are*.
#
# You write this program in the lab. Here you see it run. Each step of the figure is one row of arrows:


# %%
def ring_once():
    x = torch.arange(8.0) + dist.get_rank()
    return collectives.ring_all_reduce(x).tolist()


result = run(ring_once, ranks=4, on="commodity-10g")
print(result.values[0])
result.show()

# %% [markdown]
# Who is in a chunk on its way? Pour dye into the tensor of one rank, run the program, and look where the dye is. Do so
# for each rank. An all-reduce only adds, so this tells all that there is to know of it. In the figure each cell is a
# chunk, with a place for each rank whose numbers may be in it. Move the slider from round to round.

# %%
from lockstep.dye import dye, told, total

dyed = dye(collectives.ring_all_reduce, ranks=4, steps=True)
show.xray(dyed, total(dyed))

# %% [markdown]
# A mistake shows at once. This ring adds what arrives in the second trip, too. What travels there is complete already.


# %%
def adds_twice(tensor, group=None):
    rank, K = dist.get_rank(), dist.get_world_size()
    chunks = tensor.tensor_split(K)
    for step in range(2 * (K - 1)):
        incoming = torch.empty_like(chunks[(rank - step - 1) % K])
        sending = dist.isend(chunks[(rank - step) % K], (rank + 1) % K)
        dist.recv(incoming, (rank - 1) % K)
        sending.wait()
        chunks[(rank - step - 1) % K].add_(incoming)


wrong = dye(adds_twice, ranks=4, steps=True)
show.xray(wrong, total(wrong), told(wrong, total(wrong)))

# %% [markdown]
# The check of the lab draws the same picture of your own ring, when its sum is wrong.

# %% [markdown]
# ## 7. The table, measured
#
# There are many ways to an all-reduce. Books compare them in a table of O(…)s. You need not believe it: count. On the
# virtual cluster you choose the machine. Take one where a message costs 1 second, however long it is: then the time is
# the number of **rounds**. Take one where each byte costs 1 second: then it is the number of **bytes** that travel one
# after the other.

# %%
from lockstep.machines import Cluster, Device, Link

instant = Device("instant", {"float32": 1e30}, memory_bandwidth=1e30, memory=10**12, launch_overhead=0.0)


def machine(alpha, beta):
    return Cluster(f"alpha={alpha}, beta={beta}", instant, 1024, Link(alpha, beta), Link(alpha, beta))


# %% [markdown]
# These are the candidates. Each is a page in `pkg/lockstep/collectives`, built from send and receive.

# %%
WAYS = {
    "star: all to one, and back": collectives.star_all_reduce,
    "binomial tree, and back": lambda x: collectives.tree_broadcast(collectives.tree_reduce(x, 0), 0),
    "naive: everyone to everyone": collectives.peers_all_reduce,
    "ring, whole tensor": collectives.unchunked_ring_all_reduce,
    "ring, K chunks": collectives.ring_all_reduce,
    "recursive doubling": collectives.recursive_doubling_all_reduce,
    "halving-doubling": collectives.halving_doubling_all_reduce,
}

# %% [markdown]
# Run each on both machines. The trace knows every message: add up the bytes, and find the busiest port.


# %%
def measure(way, K):
    """(rounds, N's one after the other, N's in all, N's through the busiest port) of an all-reduce on K ranks."""
    n = 4 * K  # elements; N is 16 K bytes

    def program():
        way(torch.ones(n))

    rounds = run(program, ranks=K, on=machine(alpha=1, beta=0)).time
    run_of_bytes = run(program, ranks=K, on=machine(alpha=0, beta=1))
    trace, N = run_of_bytes.trace, 4 * n
    port = max(max(trace.sent(r).nbytes, trace.received(r).nbytes) for r in range(K))
    return rounds, run_of_bytes.time / N, trace.sent().nbytes / N, port / N


table = {(name, K): measure(way, K) for name, way in WAYS.items() for K in (2, 4, 8, 16, 32, 64)}


# %%
def show_table(K):
    head = f"| K = {K} | rounds | N·β | bytes in all | busiest port |\n|---|---|---|---|---|\n"
    return Markdown(
        head
        + "\n".join(
            f"| {name} | {rounds:.0f} | {serial:.2f} N | {total:.2f} N | {port:.2f} N |"
            for (name, k), (rounds, serial, total, port) in table.items()
            if k == K
        )
    )


display(show_table(4), show_table(64))

# %% [markdown]
# Look at how the columns grow with K. Draw it: double logarithmic axes turn K into a line of slope 1, K² into slope 2.

# %%
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharex=True)
colors = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000"]
for column, (title, ax) in enumerate(zip(("rounds", "bytes in all / N", "busiest port / N"), axes)):
    for (name, way), color in zip(WAYS.items(), colors):
        Ks = [2, 4, 8, 16, 32, 64]
        ax.loglog(Ks, [table[name, K][(0, 2, 3)[column]] for K in Ks], "o-", color=color, label=name, markersize=3)
    ax.set(xlabel="K", title=title)
axes[2].legend(fontsize=7)
figure.tight_layout()

# %% [markdown]
# Some published notes have this table with errors. What you counted says:
#
# - The ring with K chunks moves 2(K−1)·N bytes in all, so O(K). K² is the number of its *messages* (2K(K−1)), or the
#   traffic of a ring that passes whole tensors.
# - Exchanges at distances 1, 2, 4 with whole tensors are recursive **doubling**: K·log₂K·N bytes. Recursive *halving*,
#   then doubling, moves only 2(K−1)·N.
# - One to many in constant time assumes a master with as many ports as workers.
#
# Nobody can do with fewer than 2(K−1)·N bytes in all (Patarasuk & Yuan, 2009). The ring and halving-doubling reach it.

# %% [markdown]
# ## 8. Which one is best?
#
# That depends on alpha, beta, K and the size. Move the sliders. Where do the curves cross?

# %%
from lockstep.launch.survey import survey

link = survey().inside  # alpha and beta of this machine, as the survey measured them
show.costs(alpha=link.alpha, beta=link.beta, ranks=12)

# %% [markdown]
# Short messages: few rounds win, so trees. Long messages: few bytes win, so the ring.
#
# Now set the ranks to 16. Halving-doubling exists only for powers of two, and there nothing beats it: few rounds *and*
# few bytes. Why do libraries still use rings and trees? The model lets every rank reach every other one equally fast.
# A real ring talks to its neighbours only, so it can be laid along the fast links. A rank at distance K/2 is often at
# the other end of a slow one. Libraries such as NCCL choose at run time, for every call. In the lab you write that
# choice.
#
# On a cluster there are two kinds of links: fast ones inside a node, slower ones between nodes. Here are 64 A100 in 8
# nodes, simulated from published numbers:


# %%
def all_reduce_by(way, nbytes):
    def program():
        way(torch.empty(nbytes // 4))

    return run(program, ranks=64, on="dgx-a100").time


for nbytes in (2**10, 2**24):
    for name in ("star: all to one, and back", "ring, K chunks", "halving-doubling"):
        print(f"{nbytes:>12,} bytes   {name:<28} {1e6 * all_reduce_by(WAYS[name], nbytes):>12,.0f} µs")

# %% [markdown]
# ## 9. Deadlock
#
# Every rank wants its left neighbour's tensor. So every rank sends to the right, and then receives from the left. Read
# it. What can go wrong?


# %%
def ring_of_sends(tensor):
    rank, size = dist.get_rank(), dist.get_world_size()
    received = torch.empty_like(tensor)
    dist.send(tensor, dst=(rank + 1) % size)
    dist.recv(received, src=(rank - 1) % size)
    return received.tolist()


# %%
from lockstep.errors import Deadlock

try:
    run(ring_of_sends, torch.ones(4), ranks=3, on="virtual")
except Deadlock as deadlock:
    print(deadlock)
    display(show.timeline(deadlock))

# %% [markdown]
# A blocking `send` waits until its receiver is there. Everyone sends, so nobody receives. The figure draws the circle:
# an arrow goes from each rank to the one that it waits for.
#
# The same happens on real processes. There, nobody can see it in advance: a watchdog notices that all ranks stand in a
# wait and that nothing moves.

# %%
try:
    run(ring_of_sends, torch.ones(4), ranks=3)
except Deadlock as deadlock:
    print(deadlock)

# %% [markdown]
# The cell ended, and the next one works. Now the trap. MPI libraries copy a *short* message into a buffer, and let
# `send` return at once. This is called **eager**. NCCL does the same on GPUs. With their rules the same wrong program
# seems to work:

# %%
run(ring_of_sends, torch.arange(3.0), ranks=3, on="virtual", rules="mpi").values

# %% [markdown]
# It works until somebody makes the message longer, or moves to another library: gloo never buffers. A program that is
# right does not depend on it.
#
# Two more ways to hang. A collective that one rank skips:


# %%
def skipped():
    x = torch.ones(2)
    if dist.get_rank() != 2:
        dist.all_reduce(x)


try:
    run(skipped, ranks=3, on="virtual")
except Deadlock as deadlock:
    display(show.timeline(deadlock))

# %% [markdown]
# And messages with tags, received in another order than they were sent in:


# %%
def out_of_order():
    first, second = torch.ones(2), torch.zeros(2)
    if dist.get_rank() == 0:
        dist.send(first, dst=1, tag=1)
        dist.send(second, dst=1, tag=2)
    else:
        dist.recv(second, src=0, tag=2)
        dist.recv(first, src=0, tag=1)


try:
    run(out_of_order, ranks=2, on="virtual")
except Deadlock as deadlock:
    display(show.timeline(deadlock))

# %% [markdown]
# You mend all three in the lab.

# %% [markdown]
# ## 10. Hide it
#
# The cheapest communication is the one that nobody waits for. A GPU's links carry messages while the GPU computes. Here
# are four of them, first one after the other, then overlapped:


# %%
def step(way):
    gradient, x, weights = torch.ones(2_000_000), torch.ones(256, 1024), torch.ones(1024, 1024)
    return way(gradient, x, weights)[1].shape


apart = run(step, collectives.one_after_the_other, ranks=4, on="dgx-a100")
print(f"{1e6 * apart.time:.0f} µs")
apart.show()

# %%
together = run(step, collectives.overlapped_step, ranks=4, on="dgx-a100")
print(f"{1e6 * together.time:.0f} µs")
together.show()

# %% [markdown]
# The same bytes travel. The time is that of the longer of the two, not their sum. This is the first program. What must
# change to make it the second? You will write it.

# %%
import inspect

print(inspect.getsource(collectives.one_after_the_other))

# %% [markdown]
# ## 11. Reconcile
#
# Back to the first question. You know both ways now. Simulate them, and measure them here.

# %%
import time


def seconds(way, repeats=3):
    """The best of a few runs, in seconds: the slowest rank counts."""
    x, best = torch.ones(4_000_000), float("inf")  # 16 MB
    for _ in range(repeats):
        dist.barrier()
        start = time.perf_counter()
        way(x)
        best = min(best, time.perf_counter() - start)
    return best


def ratio(on):
    a = max(run(seconds, collectives.star_all_reduce, ranks=4, on=on).values)
    b = max(run(seconds, collectives.ring_all_reduce, ranks=4, on=on).values)
    print(f"{on}: star {1e3 * a:.1f} ms, ring {1e3 * b:.1f} ms")
    return a / b


reconcile("communication-star-over-ring", simulated=ratio("virtual"), measured=ratio("processes"))

# %% [markdown]
# By the formula the star takes 2(K−1)·N·β and the ring 2(K−1)/K·N·β: a factor of K. That is for
# ranks that have a processor and a network card of their own, as these four servers have:

# %%
print(f"{ratio('commodity-10g'):.2f}")

# %% [markdown]
# On your machine a message is work for two cores, as long as it lasts: one copies the bytes in, the other copies them
# out. Four ranks that all send and receive would like eight cores. With fewer they take turns, and what counts is not
# the busiest port, but *the bytes in all*. Look them up in your table: star and ring move the same. `on="virtual"`
# knows how many cores you have, and reckons with it.
#
# For the same reason nothing hides on a full machine: a core that carries a message cannot compute.
#
# Write down your reason in the field above. It is kept.

# %% [markdown]
# ## 12. What professionals use
#
# One line: `dist.all_reduce(x)`. The backend picks the algorithm. You know now what it does, what it costs, and why it
# hangs when a rank is missing. Every run here has a trace that you can open in Perfetto, where people look at the
# traces of PyTorch's profiler too:

# %%
with open("ring.json", "w") as file:
    file.write(result.trace.to_chrome())

# %% [markdown]
# Open <https://ui.perfetto.dev> and load `ring.json`. It stays on your machine: the viewer works in your browser.
#
# Go on with the lab: `labs/04_communication/lab.ipynb`. When you have your own answers, read the library's: each
# algorithm is a page in `pkg/lockstep/collectives`. What you write runs unchanged on real nodes:
# `torchrun --nproc-per-node 8 -m lockstep check communication.ring_all_reduce FILE`.
