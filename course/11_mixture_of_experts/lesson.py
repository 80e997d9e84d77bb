# %% [markdown]
# # 11 Mixture of experts
#
# **Which weights does a token need?**
#
# ![](opening.svg)
#
# In unit 09 a rank had whole layers. Here a layer has many networks side by side, and a token goes to a few of them. So
# tokens travel, and nobody knows beforehand how many will come. You count what that saves, and what it costs.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 9 |
# | Short path | {minutes} | sections 2, 3, 6 and 8, the wrap-up; then `top_k_gate` in the lab |
# | [Lab](../../labs/11_mixture_of_experts/lab.ipynb) | 135 | five exercises, and more for those who want them |
#
# From units 04 and 05 you need collectives, and gradients that are added up. One name is in use for units 09, 10
# and this one: [“model parallelism”](../10_tensor_parallel/model_parallelism.md).

# %%
from inspect import getsource
from textwrap import dedent

import torch
from IPython.display import display

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.cost import experts as cost
from lockstep.experiments.mixture_of_experts import depths, gates, gpt_on_ranks
from lockstep.experiments.mixture_of_experts import lecture_notes, loads, published
from lockstep.experiments.mixture_of_experts import quality, room, table
from lockstep.experiments.mixture_of_experts import travelling, your_line
from lockstep.experts import collapse, dispatch, flops, models_table
from lockstep.experts import serial, shared_expert, training
from lockstep.experts.mixture_of_depths import block_flops, depth_flops

show.tokens_to_experts(travelling.routed(factor=None))

# %% [markdown]
# ## 1. Where the FLOPs go · {minutes} minutes
#
# A **token** is a row of d numbers, here for a byte of a text. In each layer of a transformer it meets four **projections**,
# d × d matrices around the attention, then an **FFN** (feed-forward network) of two matrices: d to 4·d, and back.
#
# A slide has a table. In OPT-760M, it says, the projections take 35 % of the FLOPs and the FFN 44 %: 1.3 times as much. In
# OPT-175B ([arXiv:2205.01068](https://arxiv.org/abs/2205.01068)), whose d is 8 times as large, 17 % and 80 %: 4.7 times.

# %% lesson="predict ffn"
predict(
    "ffn",
    "Count the FLOPs of FFN and projections yourself, in both models. How many times as large is their ratio in OPT-175B as "
    "in OPT-760M?",
    unit="times",
    answer=1,
)

# %% lesson="after ffn"
small, large = flops.opt_flops("760M"), flops.opt_flops("175B")
grows = large.ffn / large.projections / (small.ffn / small.projections)
display(reconcile("ffn", simulated=grows))
display(show.flop_shares())
flops.opt_table()

# %% [markdown] lesson="reason ffn"
# **Our reason.** The projections are 4·d² numbers, the FFN is 8·d². A token is multiplied by each of them once. So the FFN
# takes twice the FLOPs, whatever d is. What grows is the share of both together: attention's scores and the logits grow
# with d, these two with d². In the table, attention and logits agree with the slide's within 3 percentage points.

# %% [markdown]
# ## 2. Some, not all · {minutes} minutes · short path
#
# A token is a row of numbers, and in each layer of a transformer goes through an FFN. A **mixture of experts** puts E networks in
# the FFN's place, the **experts**. A **gate** says how much each counts:
#
# $$y = \sum_i G_i(x) \cdot E_i(x)$$
#
# The idea: “Activate only a subset of experts per forward pass.” Here is a sample; gate and experts are linear layers:
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
    answer=40,
)

# %% lesson="after rows"
simulated = your_line.rows_of_experts(serial.NotesMixture(16, 4), torch.ones(10, 16))
display(reconcile("rows", simulated=simulated))
your_line.rows_table()

# %% [markdown] lesson="reason rows"
# **Our reason.** The sum goes over all experts, and each gets all of x: 4 · 10. A softmax gives every expert a weight above 0, so
# none can be left out. That is the mixture of 1991 (Jacobs et al., “Adaptive Mixtures of Local Experts”, Neural Computation
# 3). In 2017, Shazeer et al. (“Outrageously Large Neural Networks”, [arXiv:1701.06538](https://arxiv.org/abs/1701.06538))
# kept only the k highest scores. Memory is another matter: all 4 experts have to be there, either way.

# %% [markdown] lesson="after rows"
# With a top k, each expert computes only the tokens that chose it. Look at the last two columns: this **sparse** form has the
# output and the gradients of the **dense** one, which computes everything and multiplies by zeros.

# %% [markdown]
# ## 3. The gate · {minutes} minutes · short path
#
# The gate is a matrix. It gives a token a **score** for each expert. The k experts with the highest scores are the token's
# **choices**; of equal scores, the lower-numbered expert goes first.
#
# **Your turn.** Which experts does a token choose? Your line then routes identical tokens, whose scores are 1 and 0.9:
# without noise on the scores, and with more and more.


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
# “Noise for load balancing”, says a slide. Without it, the expert that is 0.1 behind gets none of these tokens, and
# learns nothing. The **noisy gate** of 2017 adds normal noise in training; a second matrix learns how much.
#
# A softmax turns scores into **weights**. The slide: “SoftMax(KeepTopK(H(x))) (or change the order of SM & TK)”.
# *After* the choice, it is over k scores. *Before* it, over all E, and k weights are kept. Which of them add up to 1?

# %%
your_line.weights_table()

# %% lesson="quiz one"
quiz(
    "one",
    "A token has scores 2, 1 and 0; k = 1, softmax after. The highest score grows from 2 to 3. By how much does its expert's "
    "weight grow?",
    answer=0,
    because="A softmax over one score is 1, whatever the score. So no gradient reaches the gate, and Switch Transformers "
    "(arXiv:2101.03961), with k = 1, take the softmax before.",
    wrong={
        1: "That is the weight itself, before and after. How much did it change?",
        0.18: "That is with the softmax before: from 0.67 to 0.84.",
        0.15: "That is with k = 2: from 0.73 to 0.88. Over how many scores is the softmax here?",
    },
)

# %% [markdown]
# Newer gates take a **sigmoid** of each score. DeepSeek-V3 ([arXiv:2412.19437](https://arxiv.org/abs/2412.19437)) chooses by
# the sigmoid plus a **bias**, and weighs outputs without the bias. Llama 4 (`moe.py` in
# [llama-models](https://github.com/meta-llama/llama-models)) multiplies the token by the sigmoid, *before* the expert. What
# does a bias change?

# %%
gates.today_table()

# %% [markdown]
# ## 4. What experts learn · {minutes} minutes
#
# Nobody tells an expert what it is for. A small GPT now trains on the source of Python's library. Its second block has 4
# experts, k = 1; each byte is a token. Then it reads a new text. In the table: which expert gets the blanks, and which the
# vowels? In the figure, go along a line: which expert reads the letters of a word, and which reads what comes between
# words?

# %%
model = training.trained().model
display(training.experts_table(model))
show.routed_text(model)

# %% lesson="quiz part"
quiz(
    "part",
    "In the lab, you name an expert after the kind of byte of which it gets the largest part. A text has 100 blanks "
    "and 2,000 consonants. An expert gets 90 blanks and 300 consonants. What percentage is its largest part of a kind?",
    unit="%",
    answer=90,
    because="It gets 90 of 100 blanks, and 300 of 2,000 consonants, 15 %. So its name is blanks, though it gets more "
    "consonants.",
    wrong={
        15: "That is its part of the consonants. And of the blanks?",
        77: "That is the consonants' share in what it gets: 300 of 390. The part is of all consonants in the text.",
        23: "That is the blanks' share in what it gets: 90 of 390. The part is of all blanks in the text.",
    },
)

# %% [markdown]
# That training had a second loss, which pushes experts to get equally many tokens. Now the GPT trains without it, with
# a learning rate of 0.02, for 200 steps.

# %% lesson="predict collapse"
predict(
    "collapse",
    "Four experts, k = 1, trained without that loss. What percentage of the tokens does the busiest expert get in the "
    "last ten steps?",
    unit="%",
    answer=100,
)

# %% lesson="after collapse"
last = {moment.way: moment for moment in collapse.recorded()}
display(reconcile("collapse", simulated=100 * max(last["without"].shares)))
display(show.expert_shares())
quality.quality_table()

# %% [markdown] lesson="reason collapse"
# **Our reason.** An expert that gets a few more tokens learns more, so it is better, and the gate sends it more. In the
# end the others get no token, so they have no gradient. This is **router collapse**: what is left is a dense layer with
# the memory of four. It doesn't always go so far. With another seed the busiest gets two thirds; with a rate of 0.003
# it gets half.

# %% [markdown] lesson="after collapse"
# Look at the losses: two seeds differ as much as two ways do. So small a model shows where tokens go, but not whether
# experts pay off.
#
# Below, they do. A layer learns 8,192 random pairs by heart. With k = 1, all rows take the same FLOPs, except for the
# gate: more parameters are more room for facts.

# %% lesson="after collapse"
room.room_table()

# %% [markdown]
# ## 5. Balance · {minutes} minutes
#
# $f_i$ is the share of expert i in all choices, $P_i$ the mean of all tokens' softmax at i. The
# **load-balancing loss** of Switch Transformers ([arXiv:2101.03961](https://arxiv.org/abs/2101.03961)) is
# $E \sum_i f_i P_i$. $f_i$ is counted, so all gradient flows through $P_i$: an expert that has more than others is pushed
# down harder. The **z-loss** (“ST-MoE”, [arXiv:2202.08906](https://arxiv.org/abs/2202.08906)) is the mean of
# $(\log \sum \exp)^2$ of the scores, and keeps them small. When is the first loss 1, and when is it E?

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
# DeepSeek-V3 balances without this loss, except for a small one in each sequence. After a step, an expert with too many
# tokens gets a lower bias, one with too few a higher one (Wang et al.,
# [arXiv:2408.15664](https://arxiv.org/abs/2408.15664)). Below, 50 steps take the busiest expert from 5.12 times the mean
# to 1.10.
#
# **Some history.** In GShard ([arXiv:2006.16668](https://arxiv.org/abs/2006.16668)) and Switch, an expert has C **places**:
# c·k·T/E, rounded up; c is the **capacity factor**. A choice that finds none is **dropped** ([more](more.ipynb)). Today
# one kernel multiplies groups of any size (“MegaBlocks”, [arXiv:2211.15841](https://arxiv.org/abs/2211.15841)).

# %%
gates.balanced_table()

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 6. There and back · {minutes} minutes · short path
#
# Now take K ranks. Each has its own tokens, a copy of the gate, and E/K of the experts: **expert parallelism**. Tokens
# travel to their experts' ranks (**dispatch**), and the experts' outputs travel back (**combine**). Both are
# all-to-alls with parts of different sizes. A receiver must know how much will come, so an all-to-all of E counts goes
# ahead of the tokens.

# %% lesson="predict alltoalls"
predict(
    "alltoalls",
    "How many all-to-alls does a layer of experts have in a training step, apart from the one that carries the counts?",
    unit="all-to-alls",
    answer=4,
)

# %% lesson="after alltoalls"
found = gpt_on_ranks.on(ranks=2)
display(reconcile("alltoalls", simulated=found.exchanged.number - 1))
print(dedent(getsource(dispatch.AllToAll.backward)))

# %% [markdown] lesson="reason alltoalls"
# **Our reason.** Forward, dispatch and combine. Backward, gradients travel the same two ways in the other direction, as the code
# above shows: the forward pass was `all_to_all(x, received, sent, group)`, and now the sizes have changed places. Each of the
# four carries k rows of d numbers for a token. With even loads, (K − 1)/K of them leave the rank.

# %% lesson="after alltoalls"
some = cost.even_loads(ranks=4, experts=8, tokens=1024, k=2)
print(f"{cost.booked(some, 1024)[0].nbytes / 1e6:.1f} MB in all-to-alls, of which")
print(f"{cost.sent(some, 1024)[0] / 1e6:.1f} MB leave the rank")
gpt_on_ranks.gpt_table()

# %% [markdown]
# The first two lines above are for 4 ranks with 1,024 float32 tokens each, d = 1,024. Then the small GPT: how far are
# its gradients from those on one rank, and what does a rank keep?
#
# With more ranks, there are several groups, each with all experts. An expert has a copy in each group: its
# **replicas**. A replica sees only its own group's tokens, so an expert's gradients are added up over its replicas; all
# other gradients, over all ranks. Below are two groups of two, 2 x 2.

# %%
table.gradients_table(((4, 2),), experts=8)

# %% [markdown]
# ## 7. The straggler · {minutes} minutes
#
# Nobody can combine before the last expert is done. So a layer is as slow as its busiest rank. Here are 8 simulated A100s. Each has
# one expert, d = 1,024, and 4,096 tokens, k = 1. Computing takes nearly all of the step.

# %% lesson="predict skew"
predict(
    "skew",
    "Half of each rank's tokens want expert 0; the rest want the other seven, evenly. How many times as long as with even "
    "loads is a training step of the layer?",
    unit="times",
    answer=4,
)

# %% lesson="after skew"
even = loads.loaded(cost.even_loads(ranks=8, experts=8, tokens=4096))
skewed = loads.loaded(loads.skewed(ranks=8, experts=8, tokens=4096, share=1 / 2))
display(reconcile("skew", simulated=skewed.time / even.time))
show.compared({"even": even, "skewed": skewed})

# %% [markdown] lesson="reason skew"
# **Our reason.** Expert 0 gets half of 8 · 4,096 rows: 16,384, four times the mean. Its rank computes four times as long, and the
# others wait. In the pale parts of the figure, seven GPUs that somebody pays for wait for one.

# %% [markdown]
# In the figure, look at rank 1. How long does it compute, and how long does it wait, forward and backward?
#
# **Your turn.** A number for it: the busiest rank's rows, divided by the mean. Below, your line is computed for more
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
    lambda rows: max(rows) / min(rows): "That divides by the rows of the rank that has fewest, which may have none.",
    lambda rows: max(rows) / sum(rows): "That is its share of all rows. With 8 even ranks it is 1/8, not 1.",
    lambda rows: sum(rows) / len(rows) / max(rows): "That is the other way round: the mean divided by the most.",
    lambda rows: max(rows) - sum(rows) / len(rows): "That is how many more. The question is how many times.",
}
well = "Right: even loads give 1, and the worst on K ranks is K."

# %% lesson="after imbalance"
display(loads.imbalance_chart(line=imbalance))
loads.imbalance_table(line=imbalance).folded()
show.tokens_to_experts(travelling.routed(factor=1.0))

# %% [markdown]
# A capacity bounds the step, whatever the gate does, and pays in dropped tokens. If nothing is dropped, only
# balance helps.
#
# And the all-to-alls? Four of them move 4·b·k·d·(K − 1)/K bytes for a token, with b bytes a number. Both passes compute
# 6 FLOPs for each of the 4·d² numbers of the projections, and of the 8·d² of each of its k experts. Between nodes,
# DeepSeek-V3 sends a token only once to each node, and on by NVLink: 8.6 MB, not 33.5, in [more](more.ipynb).

# %% lesson="quiz travel"
quiz(
    "travel",
    "8 GPUs, each in a server of its own: 312 TFLOP/s, and 25 GB/s to the others. d = 4,096, k = 1, 2 bytes a number. "
    "Divide the time that a token travels by the time its computation takes.",
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
# ## 8. Active and total · {minutes} minutes · short path
#
# A model's **active** parameters are those that a token meets. Memory holds the **total**. By its published shape
# (Meta's `config.json`), LLaMA-4 Maverick has 401 billion, of which 387 billion are **routed** experts: 128 in each of
# 24 layers. There, the gate chooses 1 of the 128 for a token, and a **shared** expert, which is not among them,
# computes every token.

# %% lesson="predict llama"
predict(
    "llama",
    "How many billions of LLaMA-4 Maverick's 401 billion parameters does a token meet?",
    unit="billion",
    answer=17.2,
)

# %% lesson="after llama"
maverick = models_table.find("LLaMA-4 Maverick")
display(reconcile("llama", simulated=maverick.active / 1e9))
one_row = maverick.active - maverick.embeddings // 2  # of the two: in and out
print(f"without the input embedding: {one_row / 1e9:.1f} billion")
display(models_table.parts_table("LLaMA-4 Maverick"), show.active_and_total())
models_table.models_table()

# %% [markdown] lesson="reason llama"
# **Our reason.** Attention, MLPs, gates and embeddings are 11.1 billion. In 24 layers a token meets two experts of 126 million:
# 6.0 billion. Like Meta's own 17, this counts embeddings whole, though a token meets just one row of the first. Our
# guess at where a slide's 14 comes from: without one of the two experts it is 14.2. The other 384 billion have to be
# in memory, because other tokens meet them.

# %% lesson="quiz states"
quiz(
    "states",
    "DeepSeek-V3 has 671 billion parameters, of which a token meets 37.6 billion. By its report, training keeps "
    "master weights and gradients in 4 bytes each, and Adam's two moments in 2. How many TB do all ranks together hold, each number kept once?",
    unit="TB",
    answer=8.05,
    within=0.02,
    because="671 billion times 4 + 4 + 2 + 2 bytes. Compute follows the active parameters, memory the total.",
    wrong={
        0.451: "That is the active parameters. Which of the others may be left out of memory?",
        10.7: "That is with moments in 4 bytes. Theirs take 2.",
        2.68: "Those are the weights. And gradients, and what Adam keeps?",
        7.6: "That is without the active ones. Are they not kept?",
    },
)

# %% [markdown] lesson="after llama"
# Do experts pay off on real text? Switch-Base has the FLOPs of T5-Base. In its paper's Table 1, compare both, and
# T5-Large, which takes 3.4 times the FLOPs: *quality* after 100,000 steps (higher is better), examples per second, and
# hours.
#
# Then common claims, each beside our count. Look at “Huge memory savings”, and at what is compared with what in
# “one-seventh the time”.

# %% lesson="after llama"
display(published.switch_table())
lecture_notes.corrections_table()

# %% [markdown]
# ## 9. Around it · {minutes} minutes
#
# A shared expert needs no gate and no message. So it can compute while the others' tokens travel. By how much does that shorten
# rank 0's wait?
#
# **Mixture of depths** ([arXiv:2404.02258](https://arxiv.org/abs/2404.02258)) has a router for a whole block: it
# chooses the tokens that go through, and the others bypass the block on the residual connection. The paper lets an
# eighth through. What share of a block's FLOPs is that, with 2,048 tokens of width 2,048?

# %%
display(shared_expert.overlap_table())
share = depth_flops(2048, 2048, share=1 / 8) / block_flops(2048, 2048)
print(f"{share:.3f} of a block's FLOPs")
changed = depths.changed_by_the_end()
print(f"a different second half changes the first half in {changed} of 100 texts")

# %% [markdown]
# Less than an eighth: attention is between fewer tokens, too. But the layer looks ahead: a later token can displace an earlier
# one, and while a model generates, the later one isn't there ([more](more.ipynb)).

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - what a top k saves, and what it does not;
# - why Switch takes the softmax before the choice;
# - why one expert takes all, and what a balancing loss or a bias does about it;
# - which all-to-alls a layer of experts has;
# - how long everybody waits for a popular expert.
#
# In practice: Megatron Core, DeepSpeed-MoE or torchtitan.
#
# **Go on**: [the lab](../../labs/11_mixture_of_experts/lab.ipynb). **[More](more.ipynb)**: torch's parts, all grids, who is
# dropped first. **Or stop here**, and begin with the lab.
