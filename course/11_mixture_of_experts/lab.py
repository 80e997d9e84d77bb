# %% [markdown] lab="readonly title"
# # Lab 11: Mixture of experts
#
# You find out what experts have learned, write the gate and the loss that keeps it balanced, send tokens to experts on other
# ranks and back, and train it all.
#
# [The lesson](../../course/11_mixture_of_experts/lesson.ipynb) explains what you need. Each exercise names its sections.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your
# function (a distributed one on 1 to 8 ranks of a virtual cluster). It looks at the results, at the gradients, *and* at
# what was sent and computed, and says what it saw. Try as often as you like. Each of the first five exercises has three
# folded hints. A program that hangs is stopped.
#
# **Tokens.** A token is a row of a matrix `x` of shape (T, d): T tokens, each of width d. On several ranks, each rank has
# its own tokens. T may differ from rank to rank, and be 0.
#
# **Experts.** There are E **experts**, numbered 0 to E − 1. Each is a small network: n rows of width d in, n rows of
# width d out. n may be 0. K ranks share them: E is a multiple of K, and rank r has the E/K experts from number r·E/K
# on. `dist.get_rank(group)` is r, `dist.get_world_size(group)` is K. K may be 1. `group=None` is all ranks. Every call
# of `dist` gets `group=group`, and “all ranks” are those of the group.
#
# **The gate.** A token has a **score** for each expert. The k experts with the highest scores compute it: these are its
# **choices**. Of equal scores, the expert with the lower number goes first. Choices have the shape (T, k): the best one
# first. Each choice has a **weight**. The token's output is the sum of its experts' outputs, each times its weight.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.
# What you return is new: whoever changes it later must not change them.

# %% lab="readonly imports"
import torch
import torch.distributed as dist
import torch.nn.functional as F

from lockstep import check
from lockstep.experiments.mixture_of_experts import assigned
from lockstep.experts import training
from lockstep.experts.training import kind_of
from lockstep.tally import counted

# %% [markdown] lab="readonly about-name_the_expert"
# ## 1. Name the expert ({minutes} minutes, {points} points)
#
# Nobody tells an expert what it is for. Find out what it has learned, from the tokens that it gets. (Section 4 of the
# lesson.)
#
# - **You get** `tokens`, a list of bytes (whole numbers 0 to 255); `experts`, a list of the same length: which expert
#   computed that byte; and `count`, how many experts there are.
# - **You return** a list of `count` names, one for each expert, expert 0 first:
#   - `"everything"`, if it got at least 90 % of all tokens;
#   - `"idle"`, if it got fewer than 1 % of them;
#   - else one of the five kinds: the one of which it got the largest *part*. Of equal parts, the kind that comes first
#     below.
# - **You may use** anything. `kind_of(byte)` is imported; it says the kind of a byte. The kinds, in their order: `"blanks"`,
#   `"vowels"`, `"consonants"`, `"digits"`, `"signs"`.
# - **It may cost** nothing: there are some thousand tokens, at least one.
#
# The part of a kind: of all blanks in `tokens`, say, this expert got 94 %. A kind that isn't in `tokens` names no expert.
# Two experts may have the same name. Leave both lists as they were.
#
# The next cell trains two small GPTs on the source of Python's standard library. Their second block is a mixture of four
# experts, and each byte goes to one of them. One GPT trains with the load-balancing loss of exercise 3, the other
# without it. Look at who gets the tokens. With your function you'll find out which ones.

# %%
rate, seed = 0.02, 2  # change them: at a rate of 0.003, does one expert still get them all?
ways = {"with the loss": 0.01, "without it": 0.0}
runs = {
    way: training.trained(balance, rate, steps=100, seed=seed)
    for way, balance in counted(ways.items(), "Training", each=5.0)
}
assigned.shares_table(runs)

# %% [markdown] lab="hint name_the_expert"
# Take paper, ten tokens and two experts. Make a table with a row for each expert and a column for each kind. Which
# numbers in a *column* belong together? And which number do you have to divide by?
#
# ---
#
# For each expert and each kind, count the tokens. Divide by how many tokens of this kind there are in all, whichever
# expert got them: that is the part. Then ask the three questions in their order, for each expert: everything? idle?
# else which part is the largest? The traps: text has so many consonants that nearly every expert gets more of them than
# of anything else; and a kind may be missing.
#
# ---
#
# ```python
# kinds = [kind_of(byte) for byte in tokens]
# names = []
# for i in range(count):
#     mine = ...  # the kinds of this expert's tokens
#     parts = {}
#     for kind in ("blanks", "vowels", "consonants", "digits", "signs"):
#         if ...:  # does it occur at all?
#             parts[kind] = ...
#     ...  # everything, idle, or max(parts, key=parts.get): of equal ones the first
# return names
# ```
#
# The check tells you the first list for which your names differ; and after that, what percentage each expert got.


# %% lab="answer name_the_expert"
def name_the_expert(tokens, experts, count):
    """A name for each expert, by the kind of bytes of which it gets the largest part."""
    ### BEGIN SOLUTION
    kinds, names = [kind_of(byte) for byte in tokens], []
    for i in range(count):
        mine = [kind for kind, expert in zip(kinds, experts) if expert == i]
        parts = {}
        for kind in ("blanks", "vowels", "consonants", "digits", "signs"):
            if kind in kinds:
                parts[kind] = mine.count(kind) / kinds.count(kind)
        if len(mine) >= 0.9 * len(tokens):
            names.append("everything")
        elif len(mine) < 0.01 * len(tokens):
            names.append("idle")
        else:
            names.append(max(parts, key=parts.get))
    return names
    ### END SOLUTION


# %% lab="tests name_the_expert"
check("mixture_of_experts.name_the_expert", name_the_expert)

# %% [markdown] lab="readonly after-name_the_expert"
# Now name the experts of both models, on text that they haven't seen.

# %%
for way, run in runs.items():
    pieces, experts = training.routed(run.model)
    print(f"{way}:", name_the_expert(pieces.flatten().tolist(), experts.flatten().tolist(), 4))

# %% [markdown] lab="readonly about-top_k_gate"
# ## 2. The gate ({minutes} minutes, {points} points)
#
# The gate decides which experts compute a token, and how much each counts. (Section 3 of the lesson.)
#
# - **You get** `scores`, a floating-point tensor (T, E); `k`, 1 to E; and `softmax`: `"before"` or `"after"`.
# - **You return** two tensors of shape (T, k): the choices (int64), best first, and their weights, of the dtype of `scores`.
#   - `"after"`: the softmax over the k scores of the choices. A token's weights add up to 1.
#   - `"before"`: the softmax over all E scores, of which you return the k of the choices.
# - **You may use** torch. Gradients flow from the weights to `scores`, so stay within autograd.
# - **It may cost** as many torch calls for many tokens and experts as for few: no loop over tokens or experts. (For a
#   larger k there may be more calls.)
#
# Equal scores do occur: the lower number goes first. `torch.topk` doesn't promise that. Scores lie between −1,000 and 1,000.
# T may be 0. Leave `scores` as it was.

# %% [markdown] lab="hint top_k_gate"
# Take one token with the scores 1, 3, 1, 2 and k = 3. Which are its choices, in which order? Now compute its weights by hand,
# once in each way. What do they add up to?
#
# ---
#
# A *stable* sort leaves equal ones in their order: the docs of `torch.argsort` say how to ask for that, and for the
# highest first. Of the result you need the first k columns. Then pick by these numbers along dim 1: in one of the two
# ways before the softmax, in the other after it. The trap: exp(1,000) is infinite, so leave the softmax to torch.
#
# ---
#
# ```python
# experts = ...  # (T, k)
# if softmax == "after":
#     weights = F.softmax(..., dim=-1)
# else:
#     weights = F.softmax(..., dim=-1)...
# return experts, weights
# ```
#
# `scores.gather(1, numbers)` has, for each row, the scores of these numbers. The check tells you the first token whose
# choices or weights differ, and what its weights add up to.


# %% lab="answer top_k_gate"
def top_k_gate(scores, k, softmax):
    """The choices (T, k), best first, and their weights (T, k)."""
    ### BEGIN SOLUTION
    experts = torch.argsort(scores, dim=-1, descending=True, stable=True)[:, :k]
    if softmax == "after":
        return experts, F.softmax(scores.gather(1, experts), dim=-1)
    return experts, F.softmax(scores, dim=-1).gather(1, experts)
    ### END SOLUTION


# %% lab="tests top_k_gate"
check("mixture_of_experts.top_k_gate", top_k_gate)

# %% [markdown] lab="readonly about-load_balancing_loss"
# ## 3. The load-balancing loss ({minutes} minutes, {points} points)
#
# This loss keeps the gate from sending all tokens to one expert. On several ranks it has to be that of all ranks' tokens.
# (Section 5 of the lesson.)
#
# Let N be the number of tokens of all ranks together. f_i is the share of expert i in all N·k choices. P_i is the mean, over
# all N tokens, of the softmax of their scores at i. The loss is E·(f_0·P_0 + … + f_{E−1}·P_{E−1}).
#
# - **You get**, on each rank, `scores` (T, E), floating-point, and `experts` (T, k), int64: the choices of this rank's
#   tokens. The choices may be any experts, not only those with the highest scores. Leave both as they were.
# - **You return** this rank's *part* of the loss, a tensor of one number. All ranks' parts add up to the loss. The part
#   carries the gradient of this rank's `scores`: the same gradient as if all tokens were on one rank.
# - **You may use** torch, and one collective. f_i is counted: no gradient flows through it.
# - **It may cost** one all-reduce of at most E + 1 numbers, of 8 bytes at most.
#
# A rank may have no tokens; all ranks together have some. A rank without tokens still calls the collective, and its
# part is 0, with or without a gradient.

# %% [markdown] lab="hint load_balancing_loss"
# Two ranks, with 1 and 3 tokens. Write the sum in P_i as a sum over the ranks: what does rank 0 add to it, and what does it
# need to know of rank 1 for that? Now the same for f_i.
#
# ---
#
# f_i is needed whole, on every rank: so the counts travel, and so does T, whose sum is N. P_i isn't needed whole. The
# loss is a sum in which each token's probabilities occur once, so each rank keeps the summands of its own tokens: that
# is its part, and its gradient comes by itself. The traps: a mean over T where it should be over N; and a rank without
# tokens that returns too early.
#
# ---
#
# ```python
# E, k = scores.shape[1], experts.shape[1]
# counts = torch.cat([..., torch.tensor([len(scores)])])  # of each expert, and of the tokens
# ...  # the all-reduce
# f = counts[:E] / ...
# P = F.softmax(scores, dim=-1)...  # this rank's summands
# return ...
# ```
#
# `torch.bincount(numbers, minlength=E)` counts. The check tells you what the parts add up to, and on which rank the gradient
# differs.


# %% lab="answer load_balancing_loss"
def load_balancing_loss(scores, experts, group=None):
    """This rank's part of the loss of all ranks' tokens: one number, with the gradient of this rank's scores."""
    ### BEGIN SOLUTION
    E, k = scores.shape[1], experts.shape[1]
    counts = torch.cat([torch.bincount(experts.flatten(), minlength=E), torch.tensor([len(scores)])])
    dist.all_reduce(counts, group=group)
    N = counts[E]
    f = counts[:E] / (N * k)
    P = F.softmax(scores, dim=-1).sum(0) / N
    return E * (f * P).sum()
    ### END SOLUTION


# %% lab="tests load_balancing_loss"
check("mixture_of_experts.load_balancing_loss", load_balancing_loss)

# %% [markdown] lab="readonly about-dispatch_and_combine"
# ## 4. There and back ({minutes} minutes, {points} points)
#
# Send each token to its experts, and bring home what they made of it. A choice that finds no place is dropped. Places
# and drops are history, from GShard and Switch: today's models drop nothing, and a *grouped GEMM* multiplies groups of
# any size. (Sections 5 and 6 of the lesson.)
#
# - **You get**, on each rank: `x` (T, d), float32; `experts` (T, k), the choices, int64; `weights` (T, k), float32, any numbers;
#   `compute`: `compute(i, rows)` is what this rank's i-th expert makes of `rows` (n, d), again (n, d), for
#   i = 0, …, E/K − 1; `count`, which is E; and `capacity` C, 1 or more.
# - **You return** a pair `(y, kept)`. `y` (T, d), float32: for each token the sum, over its choices that were kept, of the
#   weight times what the expert made of it. `kept` (T, k), bool: which choices found a place.
# - **You may use** torch and its collectives, above all
#   `dist.all_to_all_single(out, given, output_split_sizes, input_split_sizes, group=group)`.
# - **It may cost** three all-to-alls, and no other collective: E counts, the rows that are kept, and the same rows back.
#   A rank sends no row that is dropped, and nothing beside the rows. Each expert computes all of its rows in *one* call of
#   `compute`; without rows, one call or none.
#
# **Places.** Each expert has C places for the tokens *of each rank*. All first choices of the rank take places first, in the
# order of its tokens; then all second choices; and so on. A choice that finds its expert full isn't kept: that expert
# doesn't compute the token. A token none of whose choices is kept has zeros in `y`. A token's k choices are k different
# experts.
#
# Rows of one expert come from all ranks. In `rows` they may be in any order you like. Leave what you get as it is. A
# rank may have no tokens, or get no rows: it still calls each all-to-all.

# %% [markdown] lab="hint dispatch_and_combine"
# Take paper: two ranks, four experts, three tokens on each rank, two choices, and C = 1. Write down the choices of rank 0,
# and cross out who finds no place. Then write the rows that are left one below the other, in such an order that those
# for rank 0 come first. How many are for each expert? What does rank 1 have to know before they come?
#
# ---
#
# Put all choices in one row: the first choices of all tokens, then the second ones. A choice finds a place if fewer than C
# before it want the same expert: that is a cumulative sum over one-hot rows. Sort what is kept by expert. Then the parts for
# the ranks follow each other, and of each rank the parts for its experts. So E counts say everything: to the receiver, too,
# whose rows come rank by rank, and of each rank expert by expert. Back, the two lists of sizes change places. The trap:
# results must return in the order in which their rows came, and at home they are in the order in which you sent them.
#
# ---
#
# ```python
# turns = experts.T.flatten()  # all first choices, then all second ones
# before = ...  # how many in front of each want the same expert
# kept = (before < capacity).view(k, T).T
# token, choice = kept.nonzero(as_tuple=True)
# ...  # in the order of their experts
# counts = torch.bincount(experts[kept], minlength=count)
# arriving = torch.empty_like(counts)
# dist.all_to_all_single(arriving, counts, group=group)
# sent, received = ...  # rows for each rank, and from each: of its E/K experts together
# rows = x.new_empty(sum(received), d)
# ...  # all-to-all of x[token]
# expert = torch.arange(each).repeat(K).repeat_interleave(arriving)  # of each row
# for i in range(each):
#     ...  # all rows of expert i at once; results in the rows' places
# ...  # all-to-all back
# y = torch.zeros_like(x)
# y.index_add_(...)
# ```
#
# The check tells you the first choice whose place is wrong, which calls are too many, and how many bytes travel.


# %% lab="answer dispatch_and_combine"
def dispatch_and_combine(x, experts, weights, compute, count, capacity, group=None):
    """What the experts made of the tokens, (T, d), and which choices found a place, (T, k)."""
    ### BEGIN SOLUTION
    K, (T, k), d = dist.get_world_size(group), experts.shape, x.shape[1]
    each = count // K
    turns = experts.T.flatten()  # all first choices, then all second ones
    wants = F.one_hot(turns, count)
    before = (wants.cumsum(0) - wants).gather(1, turns.unsqueeze(1)).squeeze(1)
    kept = (before < capacity).view(k, T).T
    order = torch.argsort(experts[kept], stable=True)
    token, choice = (index[order] for index in kept.nonzero(as_tuple=True))

    counts = torch.bincount(experts[kept], minlength=count)
    arriving = torch.empty_like(counts)
    dist.all_to_all_single(arriving, counts, group=group)
    sent, received = (n.view(K, each).sum(1).tolist() for n in (counts, arriving))
    rows = x.new_empty(sum(received), d)
    dist.all_to_all_single(rows, x[token], received, sent, group=group)

    expert = torch.arange(each).repeat(K).repeat_interleave(arriving)
    for i in range(each):
        rows[expert == i] = compute(i, rows[expert == i])
    home = x.new_empty(sum(sent), d)
    dist.all_to_all_single(home, rows, sent, received, group=group)
    y = torch.zeros_like(x)
    y.index_add_(0, token, weights[token, choice].unsqueeze(1) * home)
    return y, kept
    ### END SOLUTION


# %% lab="tests dispatch_and_combine"
check("mixture_of_experts.dispatch_and_combine", dispatch_and_combine)

# %% [markdown] lab="readonly about-expert_parallel_moe"
# ## 5. Train it ({minutes} minutes, {points} points)
#
# Now train it: a gate on every rank, the experts divided. The gradients are those of all experts and all tokens in one
# place. (Section 6 of the lesson.)
#
# - **You get**, on each rank: `x` (T, d); `gate` (E, d), the same on all ranks; `up` (E/K, h, d) and `down` (E/K, d, h), of
#   this rank's experts; `k`; and `loss`: `loss(y)`, of y (T, d), is a tensor of one number, even where T is 0. Ranks
#   may have different losses. All tensors are float64, and none requires a gradient yet.
# - **You return** a list of four gradients, with respect to `x`, `gate`, `up` and `down`, each with the shape of its
#   argument. They are gradients of the *sum* of all ranks' losses. That of `gate` is the same on all ranks.
# - **You may use** autograd, your own functions from above, torch and its collectives, and `torch.autograd.Function`.
# - **It may cost** one all-to-all of E counts; four of tokens, two forward and two backward, each of the rows that it needs
#   and nothing beside them; and one all-reduce of E·d numbers. No other collective. No rank ever has another rank's expert.
#   What is computed isn't counted here.
#
# Scores are `x @ gate.T`, and no token has equal ones here; the softmax is over the k that are chosen (`"after"`); nothing
# is dropped. Expert i of this rank makes `F.relu(rows @ up[i].T) @ down[i].T` of its rows.
#
# What autograd computes on one rank doesn't reach another one by itself: sending rows is an operation whose backward
# pass sends gradients. All ranks go backward, even one without tokens, or without rows. Where nothing depends on an
# argument, its gradient is all zeros. Leave the numbers that you get as they are.

# %% [markdown] lab="hint expert_parallel_moe"
# Take paper: two ranks, one token on rank 0, whose expert is on rank 1. Write down the chain from x to the loss, and
# mark where it changes ranks. Now go backward: what does rank 1 need before it can compute the gradient of `up`? Who
# sends it? And where does the gradient of x come together?
#
# ---
#
# Write exercise 4 again, without places. Only the two all-to-alls of rows become a `torch.autograd.Function`. Its forward
# pass sends rows; its backward pass sends gradients the same way back, so the two lists of sizes change places. Then
# `torch.autograd.grad` does all the rest, on every rank. One gradient still needs a step: that of the gate, which is on
# every rank. The traps: experts without rows have to stay in the graph, or that rank's backward pass ends too
# early, and the others wait for it (a product with no rows is no problem for torch); and a gradient need not be contiguous.
#
# ---
#
# ```python
# class Exchange(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, rows, sent, received, group):
#         ctx.parts = ...
#         ...  # an all-to-all
#
#     @staticmethod
#     def backward(ctx, gradient):
#         ...  # an all-to-all
#         return ..., None, None, None
#
# inputs = [tensor.clone().requires_grad_() for tensor in (x, gate, up, down)]
# ...  # scores, choices, weights; the order by expert; counts
# rows = Exchange.apply(x[token], sent, received, group)
# ...  # expert by expert; all together again in the order in which they came
# home = Exchange.apply(made, received, sent, group)
# y = torch.zeros_like(x).index_add(0, token, ...)
# gradients = list(torch.autograd.grad(loss(y), inputs))
# ...  # the gate's
# ```
#
# The check tells you which of the four gradients differs, and on which rank; who waits for whom; and what travels.


# %% lab="answer expert_parallel_moe"
def expert_parallel_moe(x, gate, up, down, k, loss, group=None):
    """The gradients of the sum of all ranks' losses, with respect to x, gate, up and down."""
    ### BEGIN SOLUTION

    def all_to_all(rows, sent, received):
        out = rows.new_empty(sum(received), rows.shape[1])
        dist.all_to_all_single(out, rows.contiguous(), received, sent, group=group)
        return out

    class Exchange(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rows, sent, received):
            ctx.sent, ctx.received = sent, received
            return all_to_all(rows, sent, received)

        @staticmethod
        def backward(ctx, gradient):
            return all_to_all(gradient, ctx.received, ctx.sent), None, None

    K, each = dist.get_world_size(group), len(up)
    x, gate, up, down = inputs = [t.clone().requires_grad_() for t in (x, gate, up, down)]
    experts, weights = top_k_gate(x @ gate.T, k, "after")
    order = torch.argsort(experts.flatten(), stable=True)  # of all choices, expert by expert
    token = order // k

    counts = torch.bincount(experts.flatten(), minlength=K * each)
    arriving = torch.empty_like(counts)
    dist.all_to_all_single(arriving, counts, group=group)
    sent, received = (n.view(K, each).sum(1).tolist() for n in (counts, arriving))
    rows = Exchange.apply(x[token], sent, received)

    expert = torch.arange(each).repeat(K).repeat_interleave(arriving)
    by_expert = torch.argsort(expert, stable=True)
    parts = rows[by_expert].split(arriving.view(K, each).sum(0).tolist())
    made = torch.cat([F.relu(part @ u.T) @ d.T for part, u, d in zip(parts, up, down)])
    home = Exchange.apply(made[torch.argsort(by_expert)], received, sent)
    y = torch.zeros_like(x).index_add(0, token, weights.flatten()[order].unsqueeze(1) * home)

    gradients = list(torch.autograd.grad(loss(y), inputs))
    dist.all_reduce(gradients[1], group=group)
    return gradients
    ### END SOLUTION


# %% lab="tests expert_parallel_moe"
check("mixture_of_experts.expert_parallel_moe", expert_parallel_moe)

# %% [markdown] lab="readonly extra"
# # More, for those who want it
#
# These exercises are extra.

# %% [markdown] lab="readonly about-mixture_of_depths"
# ## 6. Not every token, every block ({minutes} minutes, {points} points)
#
# Not every token needs every block. Here a router chooses who goes through, and the others bypass it. (Section 9 of the
# lesson.)
#
# - **You get** `x` (T, d), one sequence, which isn't empty; `router` (d,); `block`, a function: (C, d) to (C, d); and
#   `capacity` C, 1 to T.
# - **You return** y (T, d). A token's score is r_t = x_t·`router`. The C tokens with the highest scores go through the
#   block, in their order in the sequence: for them y_t = x_t + r_t·`block`(…)_t. For all others y_t = x_t.
# - **You may use** torch. Gradients flow to `x`, to `router`, and to what the block has.
# - **It may cost** one call of `block`, with C rows.
#
# Of equal scores, the earlier token goes first. In the block, a token sees those before it. `x` stays as it
# was.


# %% lab="answer mixture_of_depths"
def mixture_of_depths(x, router, block, capacity):
    """The sequence, where the block has added to the tokens of the highest scores."""
    ### BEGIN SOLUTION
    r = x @ router
    chosen = torch.argsort(r, descending=True, stable=True)[:capacity].sort().values
    return x.index_add(0, chosen, r[chosen].unsqueeze(1) * block(x[chosen]))
    ### END SOLUTION


# %% lab="tests mixture_of_depths"
check("mixture_of_experts.mixture_of_depths", mixture_of_depths)

# %% [markdown] lab="readonly about-step_time_of_loads"
# ## 7. One popular expert ({minutes} minutes, {points} points)
#
# One popular expert, and everybody waits. How long does a forward pass take? (Section 7 of the lesson.)
#
# - **You get** `loads`, a list of K lists of E whole numbers: `loads[r][e]` rows of rank r are for expert e. `row_bytes`, the
#   bytes of a row; `alpha`, seconds for a message, and `beta`, seconds for a byte; and `seconds`, how long an expert
#   computes for each row.
# - **You return** how many seconds a forward pass takes: an all-to-all, the experts, an all-to-all back. All ranks
#   begin together. An all-to-all ends for all ranks at once, and the second one begins when the last rank is there.
# - **You may use** arithmetic: nothing runs.
# - **It may cost** nothing.
#
# Rank r has the E/K experts from number r·E/K on, and computes them one after another. An all-to-all of n bytes takes
# (K − 1)·(alpha + n/K·beta) seconds. n is the largest number of bytes that any rank puts in or takes out, its own rows among
# them. On the way back each rank puts in what it took out before, and the other way round. Leave `loads` as it was.


# %% lab="answer step_time_of_loads"
def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    """Seconds from the first all-to-all to the end of the second one."""
    ### BEGIN SOLUTION
    K, each = len(loads), len(loads[0]) // len(loads)
    puts_in = [sum(row) for row in loads]
    takes_out = [sum(sum(row[r * each : (r + 1) * each]) for row in loads) for r in range(K)]
    n = row_bytes * max(puts_in + takes_out)
    return 2 * (K - 1) * (alpha + n / K * beta) + max(takes_out) * seconds
    ### END SOLUTION


# %% lab="tests step_time_of_loads"
check("mixture_of_experts.step_time_of_loads", step_time_of_loads)

# %% [markdown] lab="readonly about-active_flops"
# ## 8. What does a token cost? ({minutes} minutes, {points} points)
#
# Parameters grow with the number of experts. What does a token cost? (Sections 1 and 8 of the lesson.)
#
# - **You get** `layers` L, `width` d, `context` s, `vocabulary` V; `with_experts` M, in how many of the L layers
#   experts take the place of the FFN; `experts` E, `k`, and `shared`, how many experts compute every token on top of
#   those k; `hidden` h, an expert's hidden width.
# - **You return** an `int`: the floating-point operations of one token's forward pass. Nothing is dropped.
# - **You may use** arithmetic.
# - **It may cost** nothing.
#
# A product of a row (d) and a matrix (d, n) counts as 2·d·n. In each layer there are four projections, d to d, and the
# attention: each token's d numbers by those of all s positions, twice, at 2·s·d each time. A layer's FFN is two
# matrices, d to 4·d and back. An expert, a shared one too, is two matrices, d to h and back; a layer with experts has a
# gate, d to E. At the end there are the scores of V tokens. Nothing else counts.


# %% lab="answer active_flops"
def active_flops(layers, width, context, vocabulary, with_experts, experts, k, shared, hidden):
    """Floating-point operations of a token's forward pass."""
    ### BEGIN SOLUTION
    d = width
    in_each = 8 * d * d + 4 * context * d
    moe = (k + shared) * 4 * d * hidden + 2 * d * experts
    return layers * in_each + (layers - with_experts) * 16 * d * d + with_experts * moe + 2 * d * vocabulary
    ### END SOLUTION


# %% lab="tests active_flops"
check("mixture_of_experts.active_flops", active_flops)

# %% [markdown] lab="readonly about-balance_by_bias"
# ## 9. Balance without a loss ({minutes} minutes, {points} points)
#
# DeepSeek-V3 balances by a bias, which chooses and doesn't weigh. Write a step of such a gate. (Sections 3 and 5 of the
# lesson.)
#
# - **You get**, on each rank: `scores` (T, E), float64; `bias` (E,), float64, the same on all ranks; `k`, 1 to E; and
#   `rate`, a number above 0.
# - **You return** three tensors: the choices (T, k), int64, best first; their weights (T, k), float64; and the bias for
#   the next step (E,), float64, the same on all ranks.
# - **You may use** torch and its collectives.
# - **It may cost** one all-reduce of E numbers, of 8 bytes at most.
#
# Let s be the sigmoid of a score. A token's choices are the k experts with the highest s + bias; of equal ones, the
# lower number goes first. A choice's weight is its s, *without* the bias, divided by the sum of the token's k.
#
# Count the choices of *all* ranks' tokens. An expert that has more than the mean gets a bias that is lower by `rate`, one
# that has fewer gets one that is higher by `rate`. One that has the mean keeps its bias.
#
# T may differ from rank to rank, and be 0. Nothing here needs a gradient. Leave `scores` and `bias` as they were.


# %% lab="answer balance_by_bias"
def balance_by_bias(scores, bias, k, rate, group=None):
    """The choices (T, k), their weights (T, k), and the bias for the next step (E,)."""
    ### BEGIN SOLUTION
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    return experts, weights / weights.sum(1, keepdim=True), bias + rate * torch.sign(load.double().mean() - load)
    ### END SOLUTION


# %% lab="tests balance_by_bias"
check("mixture_of_experts.balance_by_bias", balance_by_bias)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Run your layer on the real processes of this machine:
# `check("mixture_of_experts.expert_parallel_moe", expert_parallel_moe, on="processes")`.
#
# What professionals use: torch has the parts, an all-to-all that autograd goes through and `grouped_mm`, but no layer of
# experts. Libraries have one: Megatron Core and DeepSpeed. DeepEP has the two all-to-alls alone. The lesson's
# [more](../../course/11_mixture_of_experts/more.ipynb) puts torch's parts beside ours.
