"""Each limit that a budget holds an answer to stands in the lab's text, in these words.

A budget's formula takes the place of ``{}``, set as texts set it: "2(K-1)" is 2(K−1) there. Other words hold the text
alone: whoever changes such a budget has to read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from lockstep.checks.budget import Budget
from lockstep.checks.exercise import Exercise, exercises

COURSE = Path(__file__).parents[2] / "course"
TYPESET = {"-": "−", "log2": "log₂"}

# By exercise and measure, what the text says of it.
TOLD: Mapping[str, Mapping[str, str]] = {
    "scikit_learn.parallel_kmeans_step": {
        "bytes sent": "8·n·d bytes to all workers together",
        "bytes returned": "and {} bytes back from each, plus what packs them",
    },
    "cpu.blocked_matmul": {"misses": "3,280 misses: more than twice what blocks need"},
    "cpu.parallel_sum": {"transfers": "few transfers of a cache line: 4 for each worker"},
    "gpu.vector_add": {
        "global bytes": "{} bytes of global memory",
        "global requests": "Neighbouring threads take neighbouring elements",
        "sectors": "Neighbouring threads take neighbouring elements",
    },
    "gpu.saxpy_grid_stride": {
        "global bytes": "{} bytes. Each element is touched by one thread only",
        "global requests": "the 32 threads of a warp touch 32 neighbours",
        "sectors": "the 32 threads of a warp touch 32 neighbours",
    },
    "gpu.mend_divergent_reduction": {
        "atomics": "one atomic addition a block",
        "global requests": "each thread reads its own element",
        "shared requests": "It stays a tree in shared memory",
    },
    "gpu.transpose": {
        "global bytes": "{} bytes: each element is read once and written once",
        "sectors": "Every warp reads 32 neighbours and writes 32 neighbours",
        "wavefronts": "no two lanes meet in a bank",
    },
    "gpu.tiled_matmul": {
        "global bytes": "each element of A once for each column of tiles of C, each of B once for each row",
        "global requests": "In each step a thread brings one element of each tile",
        "sectors": "neighbours by neighbours",
        "wavefronts": "few lanes meet in a bank",
    },
    "gpu.reduce_sequential": {
        "atomics": "one atomic addition a block",
        "global requests": "Each thread reads its own element",
        "shared requests": "The check counts how often your warps go to shared memory",
        "wavefronts": "and looks for bank conflicts",
    },
    "gpu.reduce_shuffle": {
        "atomics": "an atomic addition once a warp, or once a block, but not once a lane",
        "global requests": "each thread with its own element",
        "shared requests": "Within a warp nobody needs shared memory",
        "shuffles": "five rounds of shuffles",
    },
    "gpu.private_histogram": {
        "global requests": "Each value is read once, neighbours by neighbours",
        "atomics": "n atomic additions in shared memory, and for each block 64 in `counts`",
        "sectors": "Each value is read once, neighbours by neighbours",
    },
    "gpu.fragment_matmul": {
        "calls": "one `mma` for each pair of pieces",
        "beginnings": "one beginning from zeros for each piece of C",
    },
    "communication.tree_broadcast": {
        "all bytes": "K−1 messages in all",
        "all messages": "{} messages in all",
        "rounds": "in at most ⌈log₂ K⌉ rounds, for every K",
    },
    "communication.ring_all_reduce": {
        "bytes": "{} bytes",
        "all bytes": "2(K−1)/K·N bytes and 2(K−1) messages a rank",
        "messages": "and {} messages a rank",
        "rounds": "let `dist.isend` send while you receive",
    },
    "communication.mend_ring_of_sends": {
        "collectives": "**You may use** send and receive in all their forms",
        "all bytes": "one message in and one out for each rank",
        "messages": "one message in and one out for each rank",
        "rounds": "no rank waits for a long chain of others",
    },
    "communication.tree_reduce": {
        "all bytes": "from the leaves to the root: K−1 messages",
        "all messages": "from the leaves to the root: {} messages",
        "rounds": "at most ⌈log₂ K⌉ rounds",
    },
    "communication.halving_doubling_all_reduce": {
        "bytes": "with the same bytes",
        "all bytes": "with the same bytes",
        "messages": "{} rounds are enough",
        "rounds": "{} rounds are enough",
    },
    "communication.recursive_doubling_all_reduce": {
        "messages": "{} messages a rank",
        "bytes": "both partners send and receive at once",
        "rounds": "in {} rounds",
    },
    "communication.mend_out_of_order_tags": {
        "collectives": "Two messages are enough, from rank 0 to rank 1",
        "all messages": "Two messages are enough, from rank 0 to rank 1",
        "all bytes": "Two messages are enough, from rank 0 to rank 1",
    },
    "all_reduce_sgd.replicas_agree": {
        "collectives": "one all-reduce of two numbers, 16 bytes",
        "bytes": "one all-reduce of two numbers, 16 bytes",
    },
    "all_reduce_sgd.all_reduce_sgd": {
        "collectives": "T all-reduces",
        "bytes": "of as many numbers as `w` has",
    },
    "all_reduce_sgd.bucketed_ddp": {
        "collectives": "at most 2·N/`bucket_bytes` + 1 all-reduces",
        "largest collective": "before the gradient that would take it over `bucket_bytes`",
        "collective bytes": "all gradients together have {} bytes, and each gradient travels once",
        "flops": "one forward and one backward pass",
    },
    "all_reduce_sgd.mend_mean_of_means": {
        "collectives": "one all-reduce of C + 1 numbers",
        "bytes": "one all-reduce of C + 1 numbers",
    },
    "all_reduce_sgd.sync_batch_norm": {
        "collectives": "one all-reduce of 2·C + 1 numbers",
        "bytes": "one all-reduce of 2·C + 1 numbers",
    },
    "without_waiting.parameter_server": {
        "collectives": "**You may use** `send`, `recv`, `isend` and `irecv` of `dist`",
        "barriers": "**You may use** `send`, `recv`, `isend` and `irecv` of `dist`",
        "all messages": "each worker two messages a step, one each way, and three more at most",
        "message bytes": "Each has at most the bytes of `w` and of two more of its numbers",
        "all bytes": "Each has at most the bytes of `w` and of two more of its numbers",
    },
    "without_waiting.diloco": {
        "collectives": "one all-reduce a round",
        "bytes": "of as many numbers as `w` has",
        "barriers": "**You may use** `dist.all_reduce`",
    },
    "without_waiting.local_sgd": {
        "collectives": "⌈`steps`/`period`⌉ all-reduces",
        "bytes": "of as many numbers as `w` has",
        "barriers": "**You may use** `dist.all_reduce`",
    },
    "without_waiting.gossip_step": {
        "collectives": "**You may use** `send`, `recv`, `isend`, `irecv` and `batch_isend_irecv` of `dist`",
        "barriers": "**You may use** `send`, `recv`, `isend`, `irecv` and `batch_isend_irecv` of `dist`",
        "all messages": "one message for each entry of `mixing` that is not zero and not on the diagonal",
        "all bytes": "Each carries x once",
        "early-waits": "a rank waits for none before it has posted all its sends, or all its receives, of this step",
    },
    "without_waiting.topk_with_error_feedback": {
        "collectives": "two all-gathers",
        "barriers": "**You may use** `dist.all_gather` or `dist.all_gather_into_tensor`",
        "collective bytes": "two all-gathers: {}",
        "bytes": "k values and k places of each rank",
    },
    "without_waiting.push_sum": {
        "collectives": "**You may use** `send`, `recv`, `isend`, `irecv` and `batch_isend_irecv` of `dist`",
        "barriers": "**You may use** `send`, `recv`, `isend`, `irecv` and `batch_isend_irecv` of `dist`",
        "all messages": "one message a round for each entry of `sends_to`",
        "all bytes": "with one number more than `x` has",
        "early-waits": "a rank waits for none before it has posted all its sends, or all its receives, of this round",
    },
    "without_waiting.masked_sum": {
        "collectives": "one all-reduce",
        "bytes": "of as many int64 numbers as `value` has",
        "barriers": "**You may use** `dist.all_reduce`",
    },
    "horovod.negotiate": {
        "barriers": "**You may use** `gather_object`, `broadcast_object_list`, `send`, `recv` and `all_reduce`",
        "control messages": "2(K−1) messages in a cycle, and as many to stop",
    },
    "horovod.fault_tolerant_step": {
        "collectives": "one call of `all_reduce`",
        "barriers": "**You may use** these functions, and `send`, `recv`, `isend`, `irecv` of `dist`",
        "collective bytes": "with as many elements as `w` has",
        "all messages": "one message with the weights to each rank that is behind",
        "all bytes": "one message with the weights to each rank that is behind",
    },
    "fsdp.fully_shard_model": {
        "held": "twice its shards of all layers (those that you return among them), twice the inputs and outputs of "
        "all layers, and five vectors of the largest layer's K·n",
        "bytes": "3·(K−1)·n numbers a rank",
        "collectives": "at most three collectives a layer",
        "flops": "Each layer's forward pass may be computed twice",
    },
    "fsdp.prefetch_backward": {
        "all-gathers": "one all-gather and one reduce-scatter of each block",
        "reduce-scatters": "one all-gather and one reduce-scatter of each block",
        "collectives": "one all-gather and one reduce-scatter of each block, K·n numbers each, with K = 1, too; "
        "nothing else travels",
        "collective bytes": "K·n numbers each",
        "flops": "Each block is computed once, forward and backward",
    },
    "fsdp.prefetch": {
        "collectives": "one all-gather of each layer",
        "collective bytes": "one all-gather of each layer, K·n numbers each",
    },
    "fsdp.reshard": {
        "numbers": "It reads what is returned and no more: no padding either",
        "reads": "exactly one call of `read` for each old shard of which something is needed, and none of any other",
    },
    "fsdp.mend_local_clipping": {
        "collectives": "one all-reduce of one number",
        "bytes": "one all-reduce of one number",
    },
    "pipeline.pipeline_worker": {"collectives": "no collective", "barriers": "no collective"},
    "pipeline.mend_one_f_one_b_exchange": {
        "collectives": "no collective, no barrier",
        "barriers": "no collective, no barrier",
        "all messages": "the messages that the program below sends, one tensor each and no others",
        "all bytes": "the messages that the program below sends, one tensor each and no others",
    },
    "tensor_parallel.regions": {
        "collectives f forward": "Nothing else is sent",
        "bytes f forward": "Nothing else is sent",
        "collectives f backward": "one in f's backward pass",
        "bytes f backward": "one all-reduce of x in g's forward pass, and one in f's backward pass",
        "collectives g forward": "one all-reduce of x in g's forward pass",
        "bytes g forward": "one all-reduce of x in g's forward pass",
        "collectives g backward": "Nothing else is sent",
        "bytes g backward": "Nothing else is sent",
    },
    "tensor_parallel.parallel_mlp": {
        "collectives forward": "one all-reduce of n·h numbers forward",
        "bytes forward": "one all-reduce of {} numbers forward",
        "collectives backward": "and one backward",
        "bytes backward": "one all-reduce of {} numbers forward, and one backward",
        "flops": "{}/K FLOP of products in all, if K divides m",
    },
    "tensor_parallel.parallel_attention": {
        "collectives forward": "one all-reduce of n·T·h numbers forward",
        "bytes forward": "one all-reduce of {} numbers forward",
        "collectives backward": "and one backward",
        "bytes backward": "one all-reduce of {} numbers forward, and one backward",
        "flops": "Each rank computes with its own heads only. With more than G ranks, a rank computes the keys and "
        "values of one head",
    },
    "tensor_parallel.vocab_parallel_cross_entropy": {
        "collectives forward": "three all-reduces of n numbers each, forward",
        "bytes forward": "three all-reduces of n numbers each, forward",
        "collectives backward": "Backward nothing is sent",
        "bytes backward": "Backward nothing is sent",
    },
    "tensor_parallel.parallel_conv2d": {
        "collectives forward": "one all-reduce of the output forward",
        "bytes forward": "one all-reduce of the output forward",
        "collectives backward": "and one of x backward",
        "bytes backward": "and one of x backward",
        "flops": "Each rank computes with its part of V's filters only",
    },
    "tensor_parallel.sequence_parallel": {
        "all-reduced bytes": "backward all-reduces of {} numbers together. No all-reduce of n·T·h numbers",
        "collectives forward": "one all-gather and one reduce-scatter of n·T·h numbers forward",
        "bytes forward": "one all-gather and one reduce-scatter of {} numbers forward",
        "collectives backward": "and the same backward; and backward all-reduces",
        "bytes backward": "and the same backward; and backward all-reduces of 3·h numbers together",
        "flops": "Each rank normalises its own positions only, and computes with its part of A and B only",
    },
    "tensor_parallel.mend_bias_added_k_times": {
        "collectives forward": "one all-reduce of n·h numbers forward",
        "bytes forward": "one all-reduce of {} numbers forward",
        "collectives backward": "Nothing is sent backward",
        "bytes backward": "Nothing is sent backward",
    },
    "tensor_parallel.mend_unsynced_layernorm": {
        "collectives forward": "one all-gather of n·T·h numbers forward",
        "bytes forward": "one all-gather of n·T·h numbers forward",
        "collectives backward": "one reduce-scatter of as many backward, and backward all-reduces of 2·h numbers",
        "bytes backward": "one reduce-scatter of as many backward, and backward all-reduces of 2·h numbers",
    },
    "tensor_parallel.async_gather_matmul": {
        "messages": "K − 1 messages out of each rank",
        "bytes": "K − 1 messages out of each rank, of n·h numbers each",
        "flops": "{} FLOP on each rank",
    },
    "bottlenecks.mend_tiny_collectives": {
        "collectives": "as many all-reduces as there are different dtypes among the gradients and the loss",
        "bytes": "16 bytes more",
        "barriers": "torch and `dist.all_reduce`",
    },
    "mixture_of_experts.balance_by_bias": {
        "collectives": "one all-reduce of E numbers",
        "bytes": "one all-reduce of E numbers, of 8 bytes at most",
        "barriers": "one all-reduce of E numbers",
    },
    "mixture_of_experts.load_balancing_loss": {
        "collectives": "one all-reduce of at most E + 1 numbers",
        "bytes": "one all-reduce of at most E + 1 numbers, of 8 bytes at most",
        "barriers": "torch, and one collective",
    },
    "mixture_of_experts.dispatch_and_combine": {
        "other-collectives": "and no other collective",
        "collectives": "three all-to-alls",
        "messages": "three all-to-alls, and no other collective",
        "bytes": "E counts, the rows that are kept, and the same rows back",
        "reduced-bytes": "and no other collective",
        "barriers": "and no other collective",
    },
    "mixture_of_experts.expert_parallel_moe": {
        "other-collectives": "No other collective",
        "collectives": "one all-to-all of E counts; four of tokens, two forward and two backward",
        "messages": "No other collective",
        "bytes": "each of the rows that it needs and nothing beside them",
        "reduced-bytes": "one all-reduce of E·d numbers",
        "barriers": "No other collective",
    },
    "hybrid.train_2x2x2": {
        "bytes-on-tp": "on tp, 2·n·h numbers in all-reduces",
        "bytes-on-pp": "on pp, 2·n·h numbers in messages",
        "bytes-on-dp": "on dp, one gradient of `A` and of `B`",
        "barriers": "Nothing else is sent",
    },
    "hybrid.ring_attention": {
        "bytes": "of 4(K − 1)·H·c·d numbers in all",
        "messages": "at most 2(K − 1) messages",
        "rounds": "at most 2(K − 1) messages",
        "flops": "2K + 2 pairs of chunks, 4·H·c²·d FLOP each",
        "held": "at most 12 times the bytes of `k`",
    },
    "hybrid.halo_exchange": {
        "bytes": "{} in all",
        "messages": "4 messages",
        "rounds": "All ranks send at the same time",
    },
    "hybrid.ulysses": {
        "other-collectives": "no other collective",
        "collectives": "two all-to-alls",
        "messages": "two all-to-alls and no other collective",
        "bytes": "only what another rank needs, and its own part",
        "reduced-bytes": "no other collective",
        "barriers": "no other collective",
    },
}


def texts() -> dict[str, str]:
    """By name, what a lab says of an exercise, in one line."""
    cell = re.compile(r'^# %% \[markdown\] lab="readonly about-(\w+)"\n((?:#.*\n)+)', re.MULTILINE)
    labs = [path.read_text(encoding="utf-8") for path in sorted(COURSE.glob("*/lab.py"))]
    return {name: re.sub(r"\s*\n# *", " ", text) for lab in labs for name, text in cell.findall(lab)}


def limits(exercise: Exercise) -> dict[str, Budget]:
    """Those that are dear to exceed. What no program can do with less need not be told."""
    return {
        budget.measured.name or str(budget.measure): budget
        for budget in exercise.costs.budgets
        if budget.at_most is not None
    }


LIMITED = {exercise.id: exercise for exercise in exercises() if limits(exercise)}
TEXTS = texts()


@pytest.mark.parametrize("id", LIMITED)
def test_the_text_tells_every_limit(id: str) -> None:
    held, told, text = limits(LIMITED[id]), TOLD[id], TEXTS[id.partition(".")[2]]
    assert [*told] == [*held]
    for measure, words in told.items():
        formula = held[measure].formula
        for mine, printed in TYPESET.items():
            formula = formula.replace(mine, printed)
        assert words.format(formula) in text, f"{measure}: not in the text"


def test_no_row_is_left_of_an_exercise_that_has_gone() -> None:
    assert {*TOLD} == {*LIMITED}
