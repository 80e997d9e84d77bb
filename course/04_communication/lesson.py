# %% [markdown]
# # 04 Communication
#
# **How long until every rank has the sum?**
#
# ![](opening.svg)
#
# Several machines learn one model. Each computes a gradient on its own data. Before anyone can take a step, all of them
# need the sum. In the course's formula $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$, every rank computes its own
# $\Delta$. This unit is about $F$: bringing the updates together.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 9 |
# | Short path | {minutes} | sections 1, 5 and 8, the wrap-up; then `ring_all_reduce` in the lab |
# | [Lab](../../labs/04_communication/lab.ipynb) | 120 | five exercises, and more for those who want them |
#
# You need nothing from earlier units but a function and a tensor.

# %%
import math

import torch
import torch.distributed as dist
from IPython.display import display

from lockstep import collectives, predict, quiz, reconcile, run, show, your_turn
from lockstep.cost.fit import crossings, fit_alpha_beta
from lockstep.dye import dye, total
from lockstep.errors import Deadlock
from lockstep.experiments.communication.all_reduce_costs import timed
from lockstep.experiments.communication.lecture_notes import all_reduce_table
from lockstep.experiments.communication.patterns import patterns

show.xray(dye(collectives.star_all_reduce, ranks=4, steps=True))

# %% [markdown]
# ## 1. Ranks share nothing · {minutes} minutes · short path
#
# Threads of one program share their memory: what one writes, the others read. Machines do not. A **rank** is one of
# `world size` programs that run the same function, each with memory of its own. `run` starts them.


# %%
notes = []


def remember():
    notes.append(dist.get_rank())
    return notes


print("what the ranks returned:", run(remember, ranks=3).values)
print("what we have here:      ", notes)

# %% [markdown]
# Every rank had its own copy of `notes`. What a rank wants others to know, it must **send**.
#
# A message needs two: one that sends, one that receives. Below, rank 0 pushes a tensor to rank 1. Then rank 1 pulls
# one from rank 0: it asks, and gets an answer. A pull is two messages.


# %%
def push_and_pull():
    x, question = torch.arange(4.0), torch.zeros(1)
    if dist.get_rank() == 0:
        dist.send(10 * x, dst=1)  # push
        dist.recv(question, src=1)  # wait for the question ...
        dist.send(100 * x, dst=1)  # ... and answer it
        return None
    pushed, pulled = torch.empty(4), torch.empty(4)
    dist.recv(pushed, src=0)
    dist.send(question, dst=0)  # pull
    dist.recv(pulled, src=0)
    return pushed.tolist(), pulled.tolist()


result = run(push_and_pull, ranks=2, on="commodity-10g")
print(result.values[1])
result.show()

# %% [markdown]
# This is a **timeline**: one lane for each rank, time to the right, an arrow for each message. Point at a bar: it shows
# the bytes, and the line of your code. Where a bar of a simulated run is pale, the message waits for its other end.
#
# It ran on a *virtual cluster*: your function, in virtual time, on a model of two servers. Such a run is the same every
# time. Without `on`, `run` starts real processes. Nothing in the function changes.
# [How it works](../../docs/virtual-cluster.md).

# %% [markdown]
# ## 2. Patterns with a name · {minutes} minutes
#
# The same few patterns come back in every distributed program. They are called **collectives**: all ranks of a group
# call them, in the same order. Their names come from **MPI**, the language of scientific computing since 1994. It says
# what an all-reduce *does*. How it is done is up to a **backend**:
#
# | backend of PyTorch | where | what it can do |
# |---|---|---|
# | gloo | CPUs, this machine too | all of the below; with tensors on a GPU, some of it |
# | nccl | NVIDIA GPUs | all of the below; no receive from any source, no tags (numbers that tell messages apart) |
# | mpi | clusters with an MPI library | most of it; PyTorch must be built against that library |
#
# Three ranks have called each collective below. Which two, one after the other, make an *all-reduce*?

# %%
patterns(ranks=3)

# %% [markdown]
# Two pairs do: a reduce, then a broadcast; and a reduce-scatter, then an all-gather. You will build the second.
#
# Look at *reduce to 0*: 10 + 20 + 30 = 60. A reduce **sums**. Some slides let it average: that is 20.
#
# `dist.barrier()` moves nothing: it waits until every rank has come to it. With `async_op=True` a collective returns at
# once, with something that has a `wait()`. Until `wait()` has returned, leave the tensor alone. `isend` and `irecv`
# are such forms of `send` and `recv`.

# %% lesson="quiz reduce-scatter"
quiz(
    "reduce-scatter",
    "4 ranks have 12 elements each. How many elements does each have after a reduce-scatter?",
    unit="elements",
    answer=3,
    because="Each rank gets its quarter of the sum: 12 / 4 = 3.",
    wrong={
        12: "That is an all-reduce. After the scatter, each rank has its own part of the sum only.",
        48: "That is an all-gather: everybody has what everybody had.",
        4: "There are 4 parts. How large is each?",
        1: "Each rank gets one part. How many elements is that?",
    },
)

# %% [markdown]
# ## 3. What does a message cost? · {minutes} minutes
#
# Rank 0's clock can't tell when a message arrives at rank 1. So send it there and back, many times, and divide by two.
# That is a **ping-pong**. You will write one in the lab.

# %% lesson="predict empty-message"
predict(
    "empty-message",
    "Two processes of this machine. How long does a message of 8 bytes take from one to the other?",
    unit="µs",
)

# %% lesson="after empty-message"
sizes = [8, 2**10, 2**14, 2**16, 2**18, 2**20, 2**22]


def all_sizes():  # the best of five, for each size
    return [min(collectives.ping_pong(n, repeats=8) for _ in range(5)) for n in sizes]


measured = run(all_sizes, ranks=2).values[0]
simulated = run(all_sizes, ranks=2, on="virtual").values[0]
alpha, beta = fit_alpha_beta(sizes, measured)
print(f"alpha = {1e6 * alpha:.1f} µs, beta = {1e9 * beta:.3f} ns per byte")
one = [1e6 * times[0] for times in (simulated, measured)]
display(reconcile("empty-message", simulated=one[0], measured=one[1]))
show.message_times(sizes, measured, alpha, beta)

# %% [markdown] lesson="reason empty-message"
# **Our reason.** Eight bytes cost next to nothing. The time goes to what every message needs: two programs must be
# woken, and each passes through the operating system. The virtual cluster took its number from a survey of this
# machine, made when it was idle. If the measurement is much longer, something else was running.

# %% [markdown] lesson="after empty-message"
# Look at the left end of the figure: the time hardly grows. On the right it grows with the size. (If your points jump
# about, the machine is busy: run the cell again when it is quiet.) One line describes both ends (Hockney, 1994):
#
# **t(n) = α + n·β** seconds.
#
# **Alpha** is what a message costs before its first byte, in seconds. **Beta** is what each byte adds. Below α/β bytes,
# the dotted line, a message is mostly alpha: send **fewer messages**. Above, it is mostly beta: send **fewer bytes**.

# %% lesson="quiz joined"
quiz(
    "joined",
    "alpha = 20 µs, beta = 1 ns per byte. You send 1,000 tensors of 1,000 bytes, one by one. "
    "How many times as fast is one message with all of them?",
    unit="times",
    answer=20.6,
    within=0.005,
    because="1,000·(20 + 1) = 21,000 µs against 20 + 1,000 = 1,020 µs. So libraries join small tensors first.",
    wrong={
        1000: "You have saved 999 alphas, but the bytes still travel.",
        20: "Nearly. Count the one alpha that is left, and the bytes: they travel in both cases.",
        21: "Nearly: the joined message pays its alpha once, too.",
        1: "The bytes are the same. How many alphas do you pay?",
    },
)

# %% [markdown]
# ## 4. From one to all · {minutes} minutes
#
# Rank 0 has a tensor that 63 others need. Two ways come to mind:
#
# - **Star**: rank 0 sends it to one rank after another.
# - **Tree**: whoever has it helps. Rank 0 sends it to one rank. Then two have it, and both send it on.
#
# A rank sends one message at a time: it has one network card. Decide on a number. Then look at the tree with 8 ranks:
# in which round do four messages travel?

# %% lesson="predict star-over-tree"
predict(
    "star-over-tree",
    "64 ranks, 1 MB, 10 Gbit/s. How many times as long as the tree does the star take?",
    unit="times",
    answer=10.5,
)


# %% lesson="after star-over-tree"
def star():
    collectives.star_broadcast(torch.ones(250_000), src=0)


def tree():
    collectives.tree_broadcast(torch.ones(250_000), src=0)


by_star, by_tree = (run(way, ranks=64, on="commodity-10g") for way in (star, tree))
display(reconcile("star-over-tree", simulated=by_star.time / by_tree.time))
run(tree, ranks=8, on="commodity-10g").show()

# %% [markdown] lesson="reason star-over-tree"
# **Our reason.** The star takes 63 rounds: rank 0 sends 63 messages one after another. In the tree, the number of ranks
# that have the tensor doubles each round: 1, 2, 4, … 64. That takes 6 rounds. 63 / 6 = 10.5.
#
# Both ways send 63 messages of 1 MB. The tree moves no fewer bytes. It keeps more cards busy at once.

# %% [markdown]
# **Your turn.** How many rounds does the tree take with K ranks? Write one line. K need not be a power of two.


# %% lesson="turn tree_rounds"
def tree_rounds(K):
    """One rank has the tensor. How many rounds until K ranks have it?"""
    ### BEGIN SOLUTION
    return (K - 1).bit_length()
    ### END SOLUTION


# %% lesson="behind tree_rounds"
cases = [(K,) for K in (1, 2, 3, 4, 5, 6, 8, 9, 64, 1000)]
wrong = {
    lambda K: K - 1: "That is the star. In the tree, several ranks send in the same round.",
    lambda K: K.bit_length() - 1: "You round log₂ K down. With 3 ranks, one round leaves a rank without the tensor.",
    lambda K: K.bit_length(): "One too many when K is a power of two. With one rank there is nothing to send.",
    lambda K: K // 2: "The number of ranks doubles each round. How often can you double 1 before you reach K?",
}
well = "Right: ⌈log₂ K⌉. With 1,000 ranks the star takes 999 rounds, and the tree 10."

# %% lesson="quiz tree-messages"
quiz(
    "tree-messages",
    "6 ranks. How many messages does the tree send in all?",
    unit="messages",
    answer=5,
    because="Each rank but the root receives the tensor once: K − 1 messages, as in the star.",
    wrong={
        3: "That is the number of rounds. In the second round two messages travel at once.",
        6: "The root has the tensor already.",
        7: "After two rounds 4 ranks have it. Only two more need it.",
    },
)

# %% [markdown]
# ## 5. Everybody wants the sum · {minutes} minutes · short path
#
# Now each rank has a gradient of N bytes, and each wants the sum: an **all-reduce**. You could send everything to rank
# 0, add, and broadcast. Then rank 0 receives (K−1)·N bytes, and most cards idle.
#
# The **ring** gives every rank the same work. Cut the tensor into K chunks. In each round, every rank sends one chunk
# to its right neighbour. Watch one chunk on its way: first it is added up, then it is handed round.

# %%
show.ring(ranks=4)

# %% lesson="predict ring-bytes"
predict(
    "ring-bytes",
    "64 ranks, 100 MB each. How many MB does one rank send, until everyone has the whole sum?",
    unit="MB",
    answer=196.9,
)


# %% lesson="after ring-bytes"
def ring():
    collectives.ring_all_reduce(torch.ones(64 * 100))


sent = run(ring, ranks=64, on="commodity-10g").trace.sent(0).nbytes
tensors = sent / (4 * 64 * 100)  # 4 bytes an element
reconcile("ring-bytes", simulated=100 * tensors)

# %% [markdown] lesson="reason ring-bytes"
# **Our reason.** A chunk is 100/64 MB. A rank sends 63 chunks until the sums are complete, and 63 more until everyone
# has them: 2·63/64·100 = 196.9 MB. In general 2(K−1)/K·N: less than 2N, *however many ranks there are*.
#
# In all, 2(K−1)·N bytes travel. No all-reduce moves fewer (Patarasuk & Yuan, 2009). The star and the tree reach that
# too. What they don't reach is an equal load: here no card carries more than 2(K−1)/K·N.

# %% [markdown]
# **Your turn.** In step 0 each rank sends the chunk that bears its own number. In every later step it sends on the chunk
# that it has just received: added up on the first trip, complete on the second. Which chunk is that?


# %% lesson="turn chunk_to_send"
def chunk_to_send(rank, step, K):
    """Which chunk does `rank` send to its right neighbour in this step?"""
    ### BEGIN SOLUTION
    return (rank - step) % K
    ### END SOLUTION


# %% lesson="behind chunk_to_send"
cases = [(rank, step, K) for K in (4, 3, 16) for step in range(2 * (K - 1)) for rank in range(K)]
wrong = {
    lambda rank, step, K: (
        (rank + step) % K
    ): "Your chunks walk the wrong way. What comes from the left began further left.",
    lambda rank, step, K: rank: "Then you send the same chunk in every step, and the other chunks never move.",
    lambda rank, step, K: rank - step: "Nearly: below zero it must begin again at K−1. Python's % does that.",
    lambda rank, step, K: (rank - step - 1) % K: "That is the chunk that comes in during this step: you receive it.",
}
well = "Right. Below, your line drives the ring."


# %% lesson="after chunk_to_send"
def my_ring(tensor, group=None):  # the library's ring, with your line in it
    return collectives.driven_ring(tensor, chunk_to_send)


run(my_ring, torch.arange(8.0), ranks=4, on="commodity-10g").show()

# %% [markdown] lesson="after chunk_to_send"
# Who is in a chunk on its way? Pour dye into one rank's tensor, run the program, and look where the dye is. Do that for
# each rank. An all-reduce only adds, so the dye shows all there is to know. Step through the rounds: after the third,
# each rank has one full chunk. The lab's check draws this picture of your own ring when its sum is wrong.

# %% lesson="after chunk_to_send"
dyed = dye(my_ring, ranks=4, steps=True)
show.xray(dyed, total(dyed))

# %% lesson="quiz whole-ring"
quiz(
    "whole-ring",
    "A colleague skips the chunks: in each of K−1 rounds every rank passes a whole tensor on. 8 ranks, 100 MB. "
    "How many MB does one rank send?",
    unit="MB",
    answer=700,
    because="7 rounds of 100 MB. The chunked ring sends 2·7/8·100 = 175 MB. A ring alone saves nothing: the chunks do.",
    wrong={
        175: "That is the ring with chunks. Here each message is the whole tensor.",
        5600: "That is what all 8 ranks send together.",
        800: "The tensor makes K−1 hops, not K: after the seventh everyone has seen it.",
        1400: "One trip is enough here: each rank adds what passes by.",
        87.5: "That is one trip of chunks.",
        100: "That is one round. How many rounds are there?",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.

# %% [markdown]
# ## 6. Fewer rounds · {minutes} minutes
#
# The ring sends few bytes, but takes 2(K−1) rounds. **Halving-doubling** sends as few in 2·log₂ K rounds. You exchange
# half of your tensor with the rank at distance K/2, then a quarter with the one at K/4, until each rank has the sum of
# one K-th. Then the same exchanges in reverse. This needs a power of two.
#
# **Recursive doubling** is simpler: exchange *whole* tensors at distances 1, 2, 4, … and add.
#
# Here is halving-doubling. The longest bars are the halves: which ranks exchange them?


# %%
def halving_doubling():
    collectives.halving_doubling_all_reduce(torch.ones(2_000_000))


display(run(halving_doubling, ranks=8, on="commodity-10g").show())
show.xray(dye(collectives.halving_doubling_all_reduce, ranks=4, steps=True))

# %% [markdown]
# **Your turn.** You and your partner exchange, so you are your partner's partner. With distance 4, ranks 0 and 4 are a
# pair, 1 and 5, 2 and 6, 3 and 7. With distance 1: 0 and 1, 2 and 3, and so on.


# %% lesson="turn partner"
def partner(rank, distance):
    """Who is `rank`'s partner at this distance, 1, 2, 4 …?"""
    ### BEGIN SOLUTION
    return rank ^ distance
    ### END SOLUTION


# %% lesson="behind partner"
cases = [(rank, distance) for distance in (4, 1, 2, 8) for rank in range(16)]
wrong = {
    lambda rank, distance: rank + distance: "Right for rank 0. But rank 4's partner at distance 4 is 0, not 8.",
    lambda rank, distance: rank - distance: "Right for rank 4 at distance 4. But rank 0 has no partner −4.",
    lambda rank, distance: (rank + distance) % 8: "That wraps round at 8 ranks. Pairs don't wrap: 4 goes back to 0.",
    lambda rank, distance: abs(rank - distance): "Rank 1 at distance 4 belongs to 5. Which bit of the two differs?",
}
well = "Right: the two numbers differ in one bit. A number XOR a power of two turns that bit round."


# %% lesson="after partner"
def my_doubling(tensor):  # recursive doubling, with your line in it
    return collectives.driven_doubling(tensor, partner).tolist()


run(my_doubling, torch.ones(2), ranks=8, on="commodity-10g").values

# %% lesson="predict doubling-or-halving"
predict(
    "doubling-or-halving",
    "16 ranks, 16 MB, 10 Gbit/s. How many times as long as halving-doubling does recursive doubling take?",
    unit="times",
    answer=2.13,
)


# %% lesson="after doubling-or-halving"
def seconds(way, nbytes):
    tensor = torch.empty(nbytes // 4)  # fake: only its size counts
    return run(way, tensor, ranks=16, on="commodity-10g", fake=True).time


def ratio(nbytes):
    doubling = seconds(collectives.recursive_doubling_all_reduce, nbytes)
    return doubling / seconds(collectives.halving_doubling_all_reduce, nbytes)


short, long = ratio(2**10), ratio(2**24)
print(f"1 kB: {short:.2f} times    16 MB: {long:.2f} times")
reconcile("doubling-or-halving", simulated=long)

# %% [markdown] lesson="reason doubling-or-halving"
# **Our reason.** At 16 MB nearly all of the time is β: doubling sends 4 N through each card, halving-doubling 1.875 N.
# That is 2.13 times. At 1 kB nearly all is α, and doubling is faster: it takes 4 rounds where halving-doubling takes 8.
# No way is the best for every size.

# %% [markdown]
# ## 7. Which way is best? · {minutes} minutes
#
# Short messages want few rounds, long ones few bytes. Where do the lowest two curves cross with 16 ranks? Then set the
# ranks to 12: which curves vanish?
#
# In this model every rank reaches every other one equally fast. A real ring talks to its neighbours only, so it can be
# laid along the fast links. That is why libraries keep rings, and why NCCL chooses anew for each call.

# %% lesson="after doubling-or-halving"
ways = "star", "binomial_tree", "ring", "recursive_doubling", "halving_doubling"
doublings = crossings(16, 25e-6, 0.8e-9)["halving_doubling", "recursive_doubling"]
print(f"16 ranks: the two doublings take equally long at {doublings / 1e3:.0f} kB")
show.costs(alpha=25e-6, beta=0.8e-9, ranks=16, algorithms=ways)

# %% [markdown] lesson="after doubling-or-halving"
# With 16 ranks the two doublings are the lowest curves. With 12, both vanish.
#
# Here is a lecture's table, in its words, beside what we count. Each row is a program; the counts come
# from its trace, with 4 ranks and with 16. See how each count grows. It takes about five seconds.

# %% lesson="after doubling-or-halving"
all_reduce_table(4, 16)

# %% [markdown] lesson="after doubling-or-halving"
# **Common claims, and what we count**
#
# | a common claim | we count | why |
# |---|---|---|
# | One-to-many takes O(1) | 6 → 30 rounds: O(K) | O(1) needs a master with K−1 cards. A rank here has one. |
# | Naïve takes O(K) | 11 → 191 rounds: O(K²) | The same: each of its K reduces takes O(1) only with K−1 cards. |
# | A ring moves O(K²) in all | 12 → 240 with whole tensors; 6 → 30 with chunks | O(K²) is the ring *without* chunks. With chunks it is 2(K−1). |
# | Recursive halving moves O(K log K) | 8 → 64 for doubling; 6 → 30 for halving-doubling | Offsets 1, 2, 4 with whole tensors are recursive *doubling*. |
# | Peak bandwidth O(1): doubling, ring | 2 → 4 and 3 → 15 tensors through one card | O(1) *at a time* is right. What fills the card is the sum over all rounds. |
#
# The binary tree agrees: its busiest rank sends the gradient and twice the model, and receives twice the gradient and
# the model. So do the star's master, K−1 tensors each way, and its workers, one each way.

# %% lesson="predict star-over-ring"
predict(
    "star-over-ring",
    "4 ranks, 16 MB each. With a processor and a network card for every rank, a star all-reduce takes 4 times as long "
    "as a ring. How many times as long does it take with 4 processes of this machine?",
    unit="times",
)


# %% lesson="after star-over-ring"
def star_over_ring(world):
    ways = collectives.star_all_reduce, collectives.ring_all_reduce
    star, ring = (timed(way, nbytes=2**24, ranks=4, on=world) for way in ways)
    return star / ring


here = star_over_ring("processes")
reconcile("star-over-ring", simulated=star_over_ring("virtual"), measured=here)

# %% [markdown] lesson="reason star-over-ring"
# **Our reason.** Here a message is work for two cores, as long as it lasts: one copies the bytes in, the other copies
# them out. Four ranks that all send and receive would like eight cores. With fewer they take turns, and then the bytes
# *in all* count, not the busiest card. Star and ring move the same. `on="virtual"` knows your cores, and reckons with
# them. On a busy machine the measurement varies by half.

# %% lesson="quiz which-way"
quiz(
    "which-way",
    "1,024 ranks sum a tensor of 4 bytes. Which way takes the fewest rounds?",
    choices=["star", "ring", "halving-doubling", "recursive doubling"],
    answer="recursive doubling",
    because="10 rounds; halving-doubling 20, ring and star 2,046.",
    wrong={
        "star": "The star sends 2·1,023 messages through rank 0, one after another.",
        "ring": "The ring saves bytes. Here there are none to save, and it takes 2,046 rounds.",
        "halving-doubling": "Close: 20 rounds. Is there anything to halve in 4 bytes?",
    },
)

# %% [markdown]
# ## 8. Programs that hang · {minutes} minutes · short path
#
# Every rank wants its left neighbour's tensor. So every rank sends to the right, then receives from the left. Read it.
# What can go wrong?


# %%
def ring_of_sends(tensor):
    rank, size = dist.get_rank(), dist.get_world_size()
    received = torch.empty_like(tensor)
    dist.send(tensor, dst=(rank + 1) % size)
    dist.recv(received, src=(rank - 1) % size)
    return received.sum().item()


def hang(program, *tensors, **how):
    try:
        print(run(program, *tensors, ranks=3, **how).values)
    except Deadlock as deadlock:
        print(deadlock, end="\n\n")
        return show.timeline(deadlock)


hang(ring_of_sends, torch.ones(4))

# %% [markdown]
# A blocking `send` waits until its receiver is there. Everyone sends, so nobody receives. These were real processes: a
# watchdog saw that all were waiting.
#
# The trap: MPI libraries copy a *short* message into a buffer and let `send` return at once: **eager** sending. NCCL
# may do that as well. Below, MPI's rules hold: first for a short tensor, then for a long one. The last two programs
# hang in other ways. One rank skips a collective; rank 1 asks first for what rank 0 sends second.


# %%
def skipped_by_rank_2(tensor):
    if dist.get_rank() != 2:
        dist.all_reduce(tensor)


hang(ring_of_sends, torch.ones(4), on="virtual", rules="mpi")
hang(ring_of_sends, torch.ones(1_000_000), on="virtual", rules="mpi")
hang(skipped_by_rank_2, torch.ones(2), on="virtual")
hang(collectives.out_of_order_tags, torch.ones(2), torch.ones(2), on="virtual")

# %% [markdown]
# ## 9. Hide it · {minutes} minutes
#
# The cheapest communication is the one that nobody waits for. A GPU's links carry messages while the GPU computes.
# Here are four GPUs that sum a gradient, then compute a product which does not need it; and below, the two at once.
# Both start by filling their tensors. Behind that, look at the longer bar: together they take as long as it does.
#
# You write the second in the lab. Without a free core nothing hides: a core that carries a message can't compute.


# %%
def step(way):
    x, weights = torch.ones(256, 1024), torch.ones(1024, 1024)
    way(torch.ones(2_000_000), x, weights)


ways = collectives.one_after_the_other, collectives.overlapped_step
apart, together = (run(step, way, ranks=4, on="dgx-a100") for way in ways)
print(f"{1e6 * apart.time:.0f} µs apart, {1e6 * together.time:.0f} µs together")
show.compared({"one after the other": apart, "overlapped": together})

# %% [markdown]
# ## Wrap-up
#
# You can now say, without a formula sheet:
#
# - when to save messages, and when bytes;
# - why a tree beats a star though both move the same bytes;
# - why a ring with chunks sends less than 2N per rank;
# - why a program that hangs may have worked yesterday.
#
# In practice you call `dist.all_reduce`, and NCCL chooses the way.
#
# **Go on**: [the lab](../../labs/04_communication/lab.ipynb). Your line from section 5 is the heart of its ring.
# [More](more.ipynb): GPUs in nodes, traces in Perfetto. **Or stop here**, and begin with the lab next time.
