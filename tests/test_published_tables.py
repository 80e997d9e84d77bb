"""Published numbers stand as they were checked against their sources. Whoever changes one looks at its source again,
and writes the file's new fingerprint here:

    python tests/test_published_tables.py
"""

from __future__ import annotations

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pkg" / "lockstep"
CHECKED = {
    "bench/allreduce_busbw_measured.csv": "4608298b5a18e52c",
    "cost/processors.csv": "432baecc7eb7de5d",
    "experiments/all_reduce_sgd/goyal_batch_vs_error.csv": "57d32caf9a5b3ae2",
    "experiments/all_reduce_sgd/goyal_systems.csv": "cefc7d6b8fab380a",
    "experiments/all_reduce_sgd/nvidia_resnet50_v100.csv": "22ef2d96e66753c6",
    "experiments/cpu/numa_recorded.csv": "aae03ac0161a6cff",
    "experiments/bottlenecks/twenty_times.csv": "4b0c867a5063902b",
    "experiments/fsdp/fsdp_and_zero_offload.csv": "a02d561d563ed670",
    "experiments/fsdp/zero_table1_memory.csv": "4ec5425af09db73d",
    "experiments/horovod/horovod_scaling.csv": "e160cce0c042efd9",
    "experiments/hybrid/placements.csv": "fec6680f6ebdf061",
    "experiments/hybrid/ring_and_ulysses.csv": "1ef8d3c5f9eeacd3",
    "experiments/hybrid/two_kinds.csv": "bf01da804329aab6",
    "experiments/mixture_of_experts/bytes_of_experts.csv": "a827fc07bbd8473a",
    "experiments/mixture_of_experts/quality.csv": "7a92d3de2ef44c18",
    "experiments/mixture_of_experts/room.csv": "3f58430421cfed39",
    "experiments/mixture_of_experts/switch_transformer_table1.csv": "392eb97e676a562b",
    "experiments/pipeline/gpipe_table1_max_model.csv": "f92dd7cd5895f1f6",
    "experiments/pipeline/gpipe_tables2_3_speedup.csv": "a4d82aaa1f6e8b54",
    "experiments/pipeline/torchgpipe_p40_speed.csv": "23dfd6a01d74aa6a",
    "experiments/tensor_parallel/megatron_a100_weak_scaling.csv": "eee6af198dd28476",
    "experiments/tensor_parallel/megatron_names.csv": "9edded4e95642fe4",
    "experiments/without_waiting/async_and_compression.csv": "2616b9e639a8cc89",
    "experiments/without_waiting/dgc_speedup_2080ti.csv": "87cea43637361445",
    "experts/collapse.csv": "5b95bac876c39676",
    "experts/moe_models.csv": "2a97379e530e30db",
    "planner/accelerator_specs_and_mamf.csv": "b5ef778387b4d12e",
    "planner/deepseek_v3_cost.csv": "f87feb8af1699235",
    "planner/llama3_405b_table4.csv": "19331a7418d593fd",
    "planner/megatron_bridge_performance.csv": "f915c5b86979394b",
    "planner/megatron_lm_jan2021_and_v100.csv": "b1192e0a178f6fc4",
    "planner/megatron_sc21_figs11_18_digitized.csv": "283d0fa687261add",
    "planner/megatron_sc21_table1.csv": "f51438897d47bccd",
    "planner/torchtitan_a100_fsdp2.csv": "9618ac1dfd9bad7f",
    "planner/torchtitan_llama31.csv": "f41baecacf646ffc",
    "planner/zero_table2_max_model.csv": "551dea1f51574795",
    "planner/zero_throughput_figs_digitized.csv": "afe2886f61ecab52",
    "sharded/states.csv": "7b78b6a8fbf49093",
    "tensor_parallel/kept_22b.csv": "138f753f3a7f9642",
    "tensor_parallel/korthikanti_activation_memory_formulas.csv": "91940426f6106401",
    "tensor_parallel/korthikanti_table3_5_iteration_times.csv": "78aab7bd5e030830",
    "tensor_parallel/korthikanti_table4_layer_times.csv": "ee2b435e60fd8ebb",
    "tensor_parallel/losses_of_twelve.csv": "88f4dae7440fbc92",
    "tensor_parallel/megatron_sc21_figure13.csv": "3dcb3008d5ac59d1",
    "without_waiting/race.csv": "6878e97abbfedfc2",
}


def fingerprints() -> dict[str, str]:
    found = {p.parents[1].relative_to(PACKAGE) / p.name: p for p in sorted(PACKAGE.glob("**/data/*.csv"))}
    return {str(name): hashlib.sha256(p.read_bytes()).hexdigest()[:16] for name, p in found.items()}


def test_no_published_number_has_changed() -> None:
    assert fingerprints() == CHECKED


if __name__ == "__main__":
    print(*(f'    "{name}": "{mark}",' for name, mark in fingerprints().items()), sep="\n")
