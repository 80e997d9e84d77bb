"""Published numbers stand as they were checked against their sources. Whoever changes one looks at its source again,
and writes the file's new fingerprint here:

    python tests/test_published_tables.py
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHECKED = {
    "bench/allreduce_busbw_measured.csv": "4608298b5a18e52c",
    "cost/processors.csv": "432baecc7eb7de5d",
    "cpu/numa_recorded.csv": "aae03ac0161a6cff",
    "data_parallel/goyal_batch_vs_error.csv": "57d32caf9a5b3ae2",
    "data_parallel/goyal_systems.csv": "cefc7d6b8fab380a",
    "data_parallel/nvidia_resnet50_v100.csv": "22ef2d96e66753c6",
    "experts/bytes_of_experts.csv": "46fe7220a77e634c",
    "experts/collapse.csv": "5b95bac876c39676",
    "experts/moe_models.csv": "2a97379e530e30db",
    "experts/quality.csv": "2f82dfa0e720f402",
    "experts/switch_transformer_table1.csv": "392eb97e676a562b",
    "pipeline/gpipe_table1_max_model.csv": "f92dd7cd5895f1f6",
    "pipeline/gpipe_tables2_3_speedup.csv": "a4d82aaa1f6e8b54",
    "pipeline/torchgpipe_p40_speed.csv": "23dfd6a01d74aa6a",
    "sharded/fsdp_and_zero_offload.csv": "a02d561d563ed670",
    "sharded/states.csv": "fcf5550acfeef679",
    "sharded/zero_table1_memory.csv": "4ec5425af09db73d",
    "tensor_parallel/kept_22b.csv": "138f753f3a7f9642",
    "tensor_parallel/korthikanti_activation_memory_formulas.csv": "91940426f6106401",
    "tensor_parallel/korthikanti_table3_5_iteration_times.csv": "78aab7bd5e030830",
    "tensor_parallel/korthikanti_table4_layer_times.csv": "ee2b435e60fd8ebb",
    "tensor_parallel/losses_of_twelve.csv": "88f4dae7440fbc92",
    "tensor_parallel/megatron_a100_weak_scaling.csv": "eee6af198dd28476",
    "tensor_parallel/megatron_names.csv": "9edded4e95642fe4",
    "tensor_parallel/megatron_sc21_figure13.csv": "3dcb3008d5ac59d1",
    "with_horovod/horovod_scaling.csv": "e160cce0c042efd9",
    "without_waiting/async_and_compression.csv": "a965fdb185c7ab65",
    "without_waiting/dgc_speedup_2080ti.csv": "87cea43637361445",
    "without_waiting/race.csv": "34bc57009d541ae9",
}


def fingerprints() -> dict[str, str]:
    found = sorted(ROOT.glob("pkg/lockstep/*/data/*.csv"))
    return {f"{p.parents[1].name}/{p.name}": hashlib.sha256(p.read_bytes()).hexdigest()[:16] for p in found}


def test_no_published_number_has_changed() -> None:
    assert fingerprints() == CHECKED


if __name__ == "__main__":
    print(*(f'    "{name}": "{mark}",' for name, mark in fingerprints().items()), sep="\n")
