"""Three roofs, and inference under them."""

from __future__ import annotations

import pytest

from lockstep.cost.inference import (
    LLAMA_3_8B,
    LLAMA_3_70B,
    LLAMA_65B,
    cache_bytes,
    decode,
    kv_cache_bytes,
    most_sequences,
    prefill,
)
from lockstep.cost.roofs import Roofs, Work
from lockstep.errors import UsageError

A100 = Roofs(312e12, 2.04e12, 25e9)


def test_the_slowest_roof_bounds() -> None:
    assert Work("x", 312e12, 1, 1).bound(A100) == "compute"
    assert Work("x", 1, 2.04e12, 1).bound(A100) == "memory"
    assert Work("x", 1, 1, 25e9).bound(A100) == "network"
    both = Work("x", 312e12, 2 * 2.04e12, 25e9 / 2)
    assert both.at_least(A100) == pytest.approx(2)
    assert both.at_most(A100) == pytest.approx(3.5)


def test_a_device_has_all_three() -> None:
    with pytest.raises(UsageError, match="above zero"):
        Roofs(1, 1, 0)


def test_kv_caches() -> None:
    """128 KiB a token of Llama 3 8B: 2 · 32 layers · 8 heads · 128 · 2 bytes."""
    assert kv_cache_bytes(32, 8, 128, 1) == 2**17
    assert cache_bytes(LLAMA_3_8B, 8192, 4) == 4 * 8192 * 2**17
    assert cache_bytes(LLAMA_65B, 1) == 8 * 80 * 64 * 128 // 2


def test_grouped_heads_divide_the_cache() -> None:
    assert cache_bytes(LLAMA_65B, 100) == 8 * cache_bytes(LLAMA_3_70B, 100)


def test_decode_reads_weights_once_for_all_sequences() -> None:
    one, many = decode(LLAMA_3_8B, 1, 1), decode(LLAMA_3_8B, 1, 64)
    assert many.flops == 64 * one.flops
    assert many.nbytes < 1.01 * one.nbytes
    assert one.flops / one.nbytes == pytest.approx(1, rel=0.01)
    assert one.bound(A100) == "memory"


def test_prefill_of_a_long_prompt_is_bound_by_compute() -> None:
    assert prefill(LLAMA_3_8B, 2048).bound(A100) == "compute"
    assert prefill(LLAMA_3_8B, 8).bound(A100) == "memory"


def test_what_fits() -> None:
    assert most_sequences(LLAMA_3_8B, 80e9, 8192) == int((80e9 - 16.06e9) // (8192 * 2**17))
    assert most_sequences(LLAMA_3_70B, 80e9, 8192) == 0
