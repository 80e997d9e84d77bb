"""What the fork server has frozen is found by its code; nobody looks through all that there is."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator

import pytest

from lockstep.collectives import ring_all_reduce
from lockstep.forking import gc_freeze
from lockstep.forking.gc_freeze import functions_with, key_of

COPY = types.FunctionType(ring_all_reduce.__code__, {}, "copy")


@pytest.fixture(autouse=True)
def _as_in_a_server() -> Iterator[None]:
    gc.unfreeze()  # what a run of the tests has frozen by itself, nobody has noted
    gc_freeze.freeze()
    yield
    gc.unfreeze()
    gc_freeze._frozen.clear()


@pytest.mark.slow
def test_frozen_functions_are_found_and_their_copies() -> None:
    found = functions_with(frozenset([key_of(ring_all_reduce.__code__)]))
    assert any(f is ring_all_reduce for f in found)
    assert any(f is COPY for f in found)


def test_a_copy_made_since_is_found_too() -> None:
    later = types.FunctionType(ring_all_reduce.__code__, {}, "later")
    assert any(f is later for f in functions_with(frozenset([key_of(ring_all_reduce.__code__)])))


def test_no_other_function_is_found() -> None:
    key = key_of(ring_all_reduce.__code__)
    assert {key_of(f.__code__) for f in functions_with(frozenset([key]))} == {key}
    assert functions_with(frozenset()) == []


def test_a_module_that_is_loaded_later_is_frozen_too() -> None:
    """Each run of a check looked through 50,000 objects once exercises on numba had been loaded: a third of its
    time."""
    made = [types.FunctionType(ring_all_reduce.__code__, {}, str(n)) for n in range(1000)]
    assert len(gc.get_objects()) > 1000
    gc_freeze.freeze()
    assert len(gc.get_objects()) < 500
    found = functions_with(frozenset([key_of(ring_all_reduce.__code__)]))
    assert {id(f) for f in made} <= {id(f) for f in found}
