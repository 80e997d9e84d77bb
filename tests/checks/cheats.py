"""Answers that are the ring of the library, in disguise. A rank that runs one imports this module, and no more."""

from __future__ import annotations

import importlib
import types
from typing import Any

from lockstep.collectives import ring, ring_all_reduce

CODE = ring_all_reduce.__code__
copied = types.FunctionType(CODE, vars(ring))


def copy_made_before(tensor: Any, group: Any = None) -> Any:
    return copied(tensor, group)


def copy_made_now(tensor: Any, group: Any = None) -> Any:
    return types.FunctionType(CODE, vars(ring))(tensor, group)


def code_put_into_a_function(tensor: Any, group: Any = None) -> Any:
    def mine(tensor: Any, group: Any = None) -> Any: ...

    mine.__code__ = CODE
    return mine(tensor, group)


def what_the_guard_keeps(tensor: Any, group: Any = None) -> Any:
    import gc

    codes = [v for d in gc.get_objects() if type(d) is dict for v in list(d.values()) if type(v) is types.CodeType]
    kept = [c for c in codes if c.co_name == "ring_all_reduce" and "lockstep" in c.co_filename]
    return kept and types.FunctionType(kept[0], vars(ring))(tensor, group)


def module_loaded_again(tensor: Any, group: Any = None) -> Any:
    return importlib.reload(ring).ring_all_reduce(tensor, group)


def module_under_another_name(tensor: Any, group: Any = None) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("mine", ring.__file__)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ring_all_reduce(tensor, group)


CHEATS = [copy_made_before, copy_made_now, code_put_into_a_function, module_loaded_again, module_under_another_name]
