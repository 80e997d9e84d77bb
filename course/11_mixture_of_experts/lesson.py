# %% [markdown]
# # 11 Mixture of experts
#
# **Which weights does a token need?**
#
# In unit 09 a rank had whole layers. Here a layer has many networks side by side, and a token goes to a few of them. So
# tokens travel, and nobody knows beforehand how many will come. You count what that saves, and what it costs.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | 57 | sections 1 to 9 |
# | Short path | 24 | sections 2, 3, 6 and 8, the wrap-up; then `top_k_gate` in the lab |
# | [Lab](../../labs/11_mixture_of_experts/lab.ipynb) | 135 | five exercises, and more for those who want them |
#
# From units 04 and 05 you need collectives, and gradients that are added up. The notes use one name for units 09, 10
# and this one: [“model parallelism”](../10_tensor_parallel/model_parallelism.md).

# %%
from inspect import getsource
from textwrap import dedent

import torch
from IPython.display import display

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.cost import experts as cost
from lockstep.experiments.mixture_of_experts import gpt_on_ranks, lecture_notes, loads
from lockstep.experiments.mixture_of_experts import published, quality, table, your_line
from lockstep.experts import collapse, dense, dispatch, flops, models_table
from lockstep.experts import shared_expert, training
from lockstep.experts.mixture_of_depths import block_flops, depth_flops

# %% [markdown]
# ## 1. Where the FLOPs go · 5 minutes
#
# A **token** is a row of d numbers: here, one for each byte of a text. In each layer of a transformer it meets four
# **projections**, matrices d × d around the attention, and then an **FFN** (feed-forward network) of two matrices: d to 4·d, and back.
#
# The notes have a table of FLOPs. In OPT-760M, they say, 35 % are in the projections and 44 % in the FFN. In OPT-175B,
# whose d is 12,288, they say 17 % and 80 %.

# %% lesson="predict ffn"
predict(
    "ffn",
    "A token goes forward through OPT-175B. How many times the FLOPs of the projections does the FFN take?",
    unit="times",
)

# %% lesson="after ffn"
opt = flops.dense_flops(*flops.OPT["175B"], flops.OPT_CONTEXT, flops.OPT_VOCABULARY)
display(reconcile("ffn", simulated=opt.ffn / opt.projections))
display(show.flop_shares())
flops.opt_table()

# %% [markdown] lesson="reason ffn"
# **Our reason.** The projections are 4·d² numbers, the FFN is 8·d². A token is multiplied by each of them once. So the FFN
# takes twice the FLOPs, whatever d is. What the number does not show is what does grow: the share of both together. Attention's
# scores and the logits grow with d, these two with d².

# %% [markdown] lesson="after ffn"
# The figure has four of the sizes; the notes' shares stand whole in the table below it. Their row of 2.7B
# agrees with the count. In the others, attention and logits agree within 3 points, and the trend is the same: in a large
# model, nearly all is in projections and FFN. What differs is how these two share it.

# %% [markdown]
# ## 2. Some, not all · 5 minutes · short path
#
# In each layer of a transformer, a token, a row of numbers, goes through an FFN of two matrices. A **mixture of experts** puts E
# networks in its place, the **experts**. A **gate** says how much each counts:
#
# $$y = \sum_i G_i(x) \cdot E_i(x)$$
#
# The notes' idea: “Activate only a subset of experts per forward pass.” Here is their sample's forward pass; gate and experts
# are linear layers:
#
# ```python
# gate_scores = torch.softmax(self.gate(x), dim=-1)
# output = sum(gate_scores[:, i].unsqueeze(1)
#              * self.experts[i](x) for i in range(len(self.experts)))
# ```

# %% lesson="predict rows"
predict(
    "rows",
    "10 tokens, each a row of x, go through this sample, which has 4 experts. How many rows do the experts compute in all?",
    unit="rows",
)

# %% lesson="after rows"
simulated = your_line.rows_of_experts(dense.NotesMixture(16, 4), torch.ones(10, 16))
display(reconcile("rows", simulated=simulated))
your_line.rows_table()

# %% [markdown] lesson="reason rows"
# **Our reason.** The sum goes over all experts, and each gets all of x: 4 · 10. A softmax gives every expert a weight above 0, so
# none can be left out. That is the mixture of 1991 (Jacobs et al.). In 2017, Shazeer et al. kept the k highest
# scores only. What the number does not show is memory: all 4 experts have to be there, either way.

# %% [markdown] lesson="after rows"
# With a top k, each expert computes only the tokens that chose it. Look at the last two columns: this **sparse** form has the
# output and the gradients of the **dense** one, which computes everything and multiplies by zeros.

# %% [markdown]
# ## 3. The gate · 7 minutes · short path
#
# The gate is a matrix. It gives a token a **score** for each expert. The k experts with the highest scores are the token's
# **choices**; of equal scores, the lower number goes first.
#
# **Your turn.** Which experts does a token choose? Your line then routes tokens that are all alike, whose scores are 1 and
# 0.9: without noise on the scores, and with more and more.


# %% lesson="turn top_k"
def top_k(scores, k):
    """A token's scores, one for each expert: a list of the numbers of its k experts,
    best first. Of equal scores, which comes first?"""
    ### BEGIN SOLUTION
    return sorted(range(len(scores)), key=lambda e: -scores[e])[:k]
    ### END SOLUTION


# %% lesson="behind top_k"
cases = [
    ([2.0, 1.0, 0.0], 2),
    ([0.0, 1.0, 2.0], 1),
    ([0.5, 3.0, 1.5, 2.5], 3),
    ([1.0], 1),
    ([1.0, 1.0, 1.0], 2),
    ([0.0, 4.0, 4.0, 4.0], 3),
    ([-1.0, -3.0, -2.0], 2),
    ([3.0, 0.0, 3.0, 1.0], 4),
    ([float(e * 7 % 64) for e in range(64)], 8),
]
wrong = {
    lambda scores, k: sorted(scores, reverse=True)[:k]: "Those are the scores. Which experts have them?",
    lambda scores, k: sorted(range(len(scores)), key=lambda e: scores[e])[:k]: "Those are the lowest scores.",
    lambda scores, k: sorted(range(len(scores)), key=lambda e: scores[e])[-k:][::-1]: (
        "Of equal scores, yours has the higher number first. And [1, 1, 1] with k = 2?"
    ),
    lambda scores, k: sorted(sorted(range(len(scores)), key=lambda e: -scores[e])[:k]): (
        "Those are the right experts, by number. The best one comes first."
    ),
}
well = "Right: by falling score, and a sort keeps the order of equal ones."

# %% lesson="after top_k"
your_line.noise_table(top_k)

# %% [markdown]
# “Noise for load balancing”, say the notes. Without it, the expert that is 0.1 behind gets no such token, and learns nothing from
# them. The **noisy gate** of 2017 adds normal noise while it trains; a second matrix learns how much.
#
# A softmax makes **weights** of scores. The notes: “SoftMax(KeepTopK(H(x))) (or change the order of SM & TK)”. *After* the
# choice, it is over k scores. *Before* it, over all E, and k weights are kept. Which of them add up to 1?

# %%
your_line.weights_table()

# %% lesson="quiz one"
quiz(
    "one",
    "A token has scores 2, 1 and 0; k = 1, softmax after. The highest score grows from 2 to 3. By how much does the token's "
    "weight grow?",
    answer=0,
    because="A softmax over one score is 1, whatever the score. So no gradient reaches the gate, and Switch Transformers, "
    "with k = 1, take the softmax before.",
    wrong={
        1: "That is the weight itself, before and after. How much did it change?",
        0.18: "That is with the softmax before: from 0.67 to 0.84.",
        0.15: "That is with k = 2: from 0.73 to 0.88. Over how many scores is the softmax here?",
    },
)

# %% [markdown]
# ## 4. What experts learn · 7 minutes
#
# Nobody tells an expert what it is for. A small GPT now trains on the source of Python's library, for some seconds. Its second
# block has 4 experts, k = 1; each byte is a token. Then it reads a text that it has not seen. In the table: which expert gets
# the blanks, and which the vowels? In the figure, go along a line: who reads the letters of a word, and who reads what stands
# between words?

# %%
model = training.trained().model
display(training.experts_table(model))
show.routed_text(model)

# %% lesson="quiz part"
quiz(
    "part",
    "In the lab, you name an expert by the kind of which it gets the largest part. A text has 100 blanks and 2,000 consonants. "
    "An expert gets 90 blanks and 300 consonants. What percentage is its largest part of a kind?",
    unit="%",
    answer=90,
    because="It gets 90 of 100 blanks, and 300 of 2,000 consonants, 15 %. So it is called blanks, though it gets more "
    "consonants.",
    wrong={
        15: "That is its part of the consonants. And of the blanks?",
        77: "That is the consonants' share in what it gets: 300 of 390. The part is of all consonants in the text.",
        23: "That is the blanks' share in what it gets: 90 of 390. The part is of all blanks in the text.",
    },
)

# %% [markdown]
# That training had a second loss, which asks that all experts get equally many tokens. Now the GPT trains without it, with
# a learning rate of 0.02, for 200 steps.

# %% lesson="predict collapse"
predict(
    "collapse",
    "Four experts, k = 1, trained without that loss. What percentage of the tokens does the busiest expert get in the "
    "last ten steps?",
    unit="%",
)

# %% lesson="after collapse"
last = {moment.way: moment for moment in collapse.recorded()}
display(reconcile("collapse", simulated=100 * max(last["without"].shares)))
display(show.expert_shares())
quality.quality_table()

# %% [markdown] lesson="reason collapse"
# **Our reason.** An expert that gets a few tokens more learns more, so it is better, and the gate sends it more. In the end
# the others get no token, so they have no gradient. This is **router collapse**: what is left is a dense layer with the memory
# of four. What the number does not show is how often it happens. With another seed the busiest gets two thirds; with a rate of
# 0.003 it gets half.

# %% [markdown] lesson="after collapse"
# These runs are recorded. Look at the losses in the table: two seeds differ as much as two ways do, with experts or *dense*. So
# short a training of so small a model shows where tokens go. It does not show whether experts are worth it.

# %% [markdown]
# ## 5. Balance, and places · 7 minutes
#
# $f_i$ is the share of expert i in all choices. $P_i$ is the mean, over all tokens, of the softmax of their scores at i. The
# **load-balancing loss** is $E \sum_i f_i P_i$. $f_i$ is counted, so all gradient flows through $P_i$: an expert that has
# more than others is pushed down harder. The **z-loss** is the mean of $(\log \sum \exp)^2$ of the scores, and keeps them small. When is the first
# loss 1, and when is it E?

# %%
your_line.losses_table()

# %% lesson="quiz together"
quiz(
    "together",
    "Two ranks, two experts, k = 1, and a gate that is sure (its softmax is 1 and 0). Rank 0 sends all of its tokens to expert 0, "
    "rank 1 as many to expert 1. What is the load-balancing loss of all tokens together?",
    answer=1,
    because="Together f and P are 1/2 for both: 2 · (1/4 + 1/4). So f has to be counted over all ranks.",
    wrong={
        2: "That is each rank's own loss, and the mean of the two. What are f and P of all tokens?",
        0.5: "That is Σ f·P. What is it multiplied by?",
        4: "That is the sum of the ranks' own losses. What are f and P of all tokens?",
    },
)

# %% [markdown]
# Some batches are uneven all the same. So each expert has C **places**: c·k·T/E, rounded up, for T tokens. c is the
# **capacity factor**. First choices take places first, token by token; then second choices. A choice that finds none is
# **dropped**: that expert does not compute the token. A token that all of its experts drop leaves the layer as zeros, and only
# the residual connection carries it on.
#
# **Your turn.** How many are dropped? Your line then counts for two gates.


# %% lesson="turn dropped"
def dropped(wanted, C):
    """wanted[e] rows want expert e, which has C places. How many rows, of all,
    find none?"""
    ### BEGIN SOLUTION
    return sum(max(0, rows - C) for rows in wanted)
    ### END SOLUTION


# %% lesson="behind dropped"
cases = [
    ([4, 0], 2),
    ([2, 2], 2),
    ([3, 1, 5], 3),
    ([5], 2),
    ([0, 0, 0], 1),
    ([7, 6, 0, 3], 4),
    ([1, 2, 3], 10),
    ([322, 89, 34, 67], 128),
    ([n % 97 for n in range(0, 2560, 37)], 40),
]
wrong = {
    lambda wanted, C: max(0, sum(wanted) - C * len(wanted)): (
        "That lets an expert's free places serve another's rows. Does the gate ask who has room?"
    ),
    lambda wanted, C: sum(rows - C for rows in wanted): "An expert with free places counts as less than none here.",
    lambda wanted, C: max(0, max(wanted) - C): "That is the busiest expert. May others be full, too?",
    lambda wanted, C: sum(rows for rows in wanted if rows > C): "A full expert still computes C rows.",
    lambda wanted, C: sum(min(rows, C) for rows in wanted): "Those are the rows that find a place.",
}
well = "Right: what each expert is sent beyond its places."

# %% lesson="after dropped"
your_line.dropped_table(dropped, model)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 6. There and back · 6 minutes · short path
#
# Now K ranks. Each has its own tokens, a copy of the gate, and E/K of the experts: **expert parallelism**. Tokens travel to
# their experts' ranks (**dispatch**), and what the experts make of them travels home (**combine**). Both are all-to-alls with
# parts of different sizes. A receiver must know how much will come, so an all-to-all of E counts goes ahead of the tokens.

# %% lesson="predict alltoalls"
predict(
    "alltoalls",
    "A layer of experts in a training step. In how many all-to-alls does a rank take part, besides the one of the counts?",
    unit="all-to-alls",
)

# %% lesson="after alltoalls"
found = gpt_on_ranks.on(ranks=2)
display(reconcile("alltoalls", simulated=found.exchanged.number - 1))
print(dedent(getsource(dispatch.AllToAll.backward)))

# %% [markdown] lesson="reason alltoalls"
# **Our reason.** Dispatch and combine, forward. Backward, gradients take the same ways in the other direction. Above is how: the
# forward pass was `all_to_all(x, received, sent, group)`, and now the parts have changed places. Two and two are four. What the number
# does not show is bytes: each carries k rows of d numbers for a token. With even loads, (K − 1)/K of them leave the rank.

# %% lesson="after alltoalls"
some = cost.even_loads(ranks=4, experts=8, tokens=1024, k=2)
print(f"{cost.booked(some, 1024)[0].nbytes / 1e6:.1f} MB in all-to-alls, of which")
print(f"{cost.sent(some, 1024)[0] / 1e6:.1f} MB leave the rank")
gpt_on_ranks.gpt_table()

# %% [markdown]
# Above, two lines are for 4 ranks with 1,024 float32 tokens each, d = 1,024. Then comes the small GPT on ranks: how far
# are its gradients from those on one rank, and what does a rank keep?
#
# With more ranks, several groups each have all experts: they are **replicas**. Below are two replicas of two ranks, 2 x 2. An
# expert's gradient is added up over its replicas, all else over all ranks. A rank's loss is its part of the
# whole batch's mean: nothing is averaged.

# %%
table.gradients_table(((4, 2),), experts=8)

# %% [markdown]
# ## 7. The straggler · 10 minutes
#
# Nobody can combine before the last expert is done. So a layer is as slow as its busiest rank. Here are 8 simulated A100s. Each has
# one expert, d = 1,024, and 4,096 tokens, k = 1. Computing takes nearly all of the step.

# %% lesson="predict skew"
predict(
    "skew",
    "Half of each rank's tokens want expert 0; the rest want the other seven, evenly. How many times as long as with even "
    "loads is a training step of the layer?",
    unit="times",
)

# %% lesson="after skew"
even = loads.loaded(cost.even_loads(ranks=8, experts=8, tokens=4096))
skewed = loads.loaded(loads.skewed(ranks=8, experts=8, tokens=4096, share=1 / 2))
display(reconcile("skew", simulated=skewed.time / even.time))
skewed.show()

# %% [markdown] lesson="reason skew"
# **Our reason.** Expert 0 gets half of 8 · 4,096 rows: 16,384, four times the mean. Its rank computes four times as long, and the
# others wait. What the number does not show stands in the figure: in the pale parts of ranks 1 to 7, GPUs that were
# paid for wait for one.

# %% [markdown]
# In the figure, look at rank 1. How long does it compute, and how long does it wait, forward and backward?
#
# **Your turn.** A number for it: the busiest rank's rows, divided by the mean. Your line then stands beside steps with more
# and more skew.


# %% lesson="turn imbalance"
def imbalance(rows):
    """rows[r] rows are computed by rank r. How many times the mean does the
    busiest rank have?"""
    ### BEGIN SOLUTION
    return max(rows) * len(rows) / sum(rows)
    ### END SOLUTION


# %% lesson="behind imbalance"
cases = [
    ([4, 4, 4, 4],),
    ([8, 0],),
    ([5],),
    ([16, 8, 4, 4],),
    ([1, 2, 3],),
    ([0, 0, 9],),
    ([3, 5, 4, 4],),
    ([16384] + [2341] * 7,),
    ([r % 10 + 1 for r in range(1000)],),
]
wrong = {
    lambda rows: max(rows) / min(rows): "That divides by the rows of the rank that has least, which may have none.",
    lambda rows: max(rows) / sum(rows): "That is its share of all rows. With 8 even ranks it is 1/8, not 1.",
    lambda rows: sum(rows) / len(rows) / max(rows): "That is the mean divided by the most, the other way round.",
    lambda rows: max(rows) - sum(rows) / len(rows): "That is how many more. The question is how many times.",
}
well = "Right: 1 is even, and K is the worst of K ranks."

# %% lesson="after imbalance"
loads.imbalance_table(line=imbalance)

# %% [markdown]
# A capacity bounds the step, whatever the gate does. What it costs stands in the last column.
#
# And the all-to-alls? Four of them move 4·b·k·d·(K − 1)/K bytes for a token, with b bytes a number. Its layer computes 6
# FLOPs, both passes, for each of the 4·d² numbers of the projections, and of the 8·d² of each of its k experts.

# %% lesson="quiz travel"
quiz(
    "travel",
    "8 GPUs, each in a server of its own: 312 TFLOP/s, and 25 GB/s to the others. d = 4,096, k = 1, 2 bytes a number. Divide "
    "the time that a token travels by the time that it is computed.",
    unit="times",
    answer=0.296,
    within=0.02,
    because="28,672 bytes take 1.15 µs, and 1.21 GFLOP take 3.87 µs. Inside a server with 300 GB/s it is 0.025.",
    wrong={
        0.0247: "That is with 300 GB/s, inside a server.",
        0.339: "An eighth of the rows stays at home: (K − 1)/K.",
        0.148: "That is two all-to-alls. Where are the gradients'?",
        0.887: "Those are 4·d² numbers. A token meets an expert's 8·d², too.",
        3.38: "That is the other way round: computing divided by travelling.",
    },
)

# %% [markdown]
# ## 8. Active and total · 6 minutes · short path
#
# A token meets a model's **active** parameters. Memory holds the **total**. Here is LLaMA-4 Maverick, from its published shape. In
# each layer with experts, the gate chooses 1 of the 128 routed ones for a token. A **shared** expert computes every token.

# %%
models_table.parts_table("LLaMA-4 Maverick")

# %% lesson="predict llama"
predict(
    "llama",
    "How many billions of LLaMA-4 Maverick's 401 billion parameters does a token meet?",
    unit="billion",
)

# %% lesson="after llama"
maverick = models_table.find("LLaMA-4 Maverick")
display(reconcile("llama", simulated=maverick.active / 1e9))
display(show.active_and_total())
models_table.models_table()

# %% [markdown] lesson="reason llama"
# **Our reason.** Attention, MLPs, gates and embeddings are 11.1 billion, and every token meets them. In 24 layers it meets two
# experts of 126 million: 6.0 billion. The notes' 14 is what is left without one of the two. What the number does not show is
# memory: the other 384 billion have to be there, because other tokens meet them.

# %% lesson="quiz states"
quiz(
    "states",
    "DeepSeek-V3 has 671 billion parameters, of which a token meets 37.6 billion. Adam in mixed precision keeps 16 bytes for each "
    "parameter. How many TB of model states do all ranks hold together, at least?",
    unit="TB",
    answer=10.7,
    within=0.02,
    because="671 billion times 16 bytes. Compute follows the active parameters, memory the total.",
    wrong={
        0.602: "That is the active parameters. Which of the others may be left out of memory?",
        1.34: "Those are the parameters in 2 bytes. And gradients, and what Adam keeps?",
        10.1: "That is without the active ones. Are they not kept?",
    },
)

# %% [markdown] lesson="after llama"
# Switch-Base has the FLOPs of T5-Base. In its paper's table, compare examples per second with T5-Base, and hours with T5-Large,
# whose examples take 3.4 times the FLOPs.
#
# Then the notes, each sentence beside our count. That a softmax may stand before or after, and that noise balances: these
# agree. Look at “Huge memory savings”, and at what is compared with what in “one-seventh the time”.

# %% lesson="after llama"
display(published.switch_table())
lecture_notes.corrections_table()

# %% [markdown]
# ## 9. Around it · 2 minutes
#
# A shared expert needs no gate and no message: its tokens are at home. So it can compute while the others' tokens travel. By
# how much does that shorten rank 0's wait?
#
# **Mixture of depths** asks the same of a whole block: a router chooses the tokens that go through it, and the others go past
# on the residual connection. The paper takes an eighth. What share of a block's FLOPs is that, with 2,048 tokens of width 2,048?

# %%
display(shared_expert.overlap_table())
share = depth_flops(2048, 2048, share=1 / 8) / block_flops(2048, 2048)
print(f"{share:.3f} of a block's FLOPs")

# %% [markdown]
# Less than an eighth: attention is between fewer tokens, too.
#
# ## Wrap-up
#
# You can now say:
#
# - what a top k saves, and what it does not;
# - why Switch takes the softmax before the choice;
# - why one expert eats all, and what a balancing loss counts;
# - which all-to-alls a layer of experts has;
# - how long everybody waits for a popular expert.
#
# In practice: Megatron Core, DeepSpeed-MoE or torchtitan.
#
# **Go on**: [the lab](../../labs/11_mixture_of_experts/lab.ipynb). **[More](more.ipynb)**: torch's parts, all grids, who is
# dropped first. **Or stop here**, and begin with the lab.
