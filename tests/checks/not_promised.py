"""What the texts do not promise: by the reason, the exercises, and what may pass there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Declared = Mapping[str, Mapping[str, Sequence[str]]]

MUTANTS: Declared = {
    "it is written, and never read": {
        "gpu.vector_add": ["absolute out", "out through bfloat16"],
        "gpu.transpose": ["absolute target", "target through bfloat16"],
        "gpu.tiled_matmul": ["C through bfloat16", "absolute C"],
    },
    "it is 0 before": {
        f"gpu.{name}": ["absolute out", "out through bfloat16"]
        for name in ("mend_divergent_reduction", "reduce_sequential", "reduce_shuffle")
    },
    "scikit-learn's trees compute in float32": {
        "scikit_learn.parallel_forest": ["X through float32"],
        "scikit_learn.parallel_grid_search": ["X through float32"],
    },
    "only the root, or the server, returns what counts": {
        "without_waiting.parameter_server": [
            "last element on rank K - 1",
            "middle on a middle rank",
            "steps from 3 on",
        ],
    },
    "weights are eighths, so that every order of sums is exact": {
        "without_waiting.gossip_step": ["mixing through float32"],
    },
    "a micro-batch is a matrix here": {"pipeline.pipeline_worker": ["shape up to the third"]},
    "six digits count, and sums that cancel are float64's": {
        "bottlenecks.mend_tiny_collectives": ["result through float32"],
    },
    "nan stands only in weights that are of no use": {"horovod.fault_tolerant_step": ["w without NaN"]},
    "six digits count": {"horovod.distribute": ["checkpoint through float32"]},
    "one run of the loop is enough": {"bottlenecks.is_starved": ["fn from 3 on"]},
    "2 % is as near as a measurement comes": {"communication.ping_pong": ["result through bfloat16"]},
    "shares of whole numbers are often float32; a part is any tensor of one number": {
        "mixture_of_experts.load_balancing_loss": [
            "result of shape (1,)",
            "result through float32",
            "scores through float32",
        ],
    },
}

DATA: Declared = {
    "they do not travel": {"communication.overlapped_step": ["weights", "x"]},
    "a replica of zeros differs from the others in any case": {"all_reduce_sgd.replicas_agree": ["parameters"]},
    "nothing is learned from zeros in all layers": {"horovod.distribute": ["model"]},
    "of three ranks, one has zeros under some names": {"horovod.negotiate": ["cycles"]},
    "a rank of zeros has no gradient to send": {"hybrid.train_2x2x2": ["A", "B", "inputs", "targets"]},
    "all is exchanged by position": {"hybrid.ulysses": ["k", "q", "v"]},
    "zeros are expert 0": {"mixture_of_experts.dispatch_and_combine": ["experts"]},
    "no token has equal scores, says the text": {"mixture_of_experts.expert_parallel_moe": ["x"]},
}


_TENSORS = (
    "tree_broadcast", "ring_all_reduce", "mend_ring_of_sends", "tree_reduce", "halving_doubling_all_reduce",
    "recursive_doubling_all_reduce", "mend_skipped_collective", "mend_out_of_order_tags",
)  # fmt: skip
SHAPES: Mapping[str, Sequence[str]] = {  # which the texts do promise, in their words: any shape, no row, no token
    **{f"communication.{name}": ("()", "empty") for name in _TENSORS},
    "all_reduce_sgd.replicas_agree": ("()", "empty"),
    "all_reduce_sgd.mend_mean_of_means": ("empty",),
    "all_reduce_sgd.sync_batch_norm": ("empty",),
    "without_waiting.diloco": ("()",),
    "without_waiting.local_sgd": ("()",),
    "without_waiting.gossip_step": ("()",),
    "without_waiting.push_sum": ("()",),
    "without_waiting.federated_average": ("()",),
    "tensor_parallel.regions": ("()", "empty"),
    "mixture_of_experts.top_k_gate": ("empty",),
    "mixture_of_experts.load_balancing_loss": ("empty",),
    "mixture_of_experts.dispatch_and_combine": ("empty",),
    "mixture_of_experts.expert_parallel_moe": ("empty",),
}


def reasons(declared: Declared, id: str) -> dict[str, str]:
    """By what may pass in an exercise, why."""
    return dict(_rows(declared, id))


def _rows(declared: Declared, id: str) -> Iterator[tuple[str, str]]:
    for reason, by_exercise in declared.items():
        for name in by_exercise.get(id, ()):
            yield name, reason
