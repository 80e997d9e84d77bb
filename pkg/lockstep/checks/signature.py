"""Can a function be called as its exercise is published? Found out before anything runs, and said in one sentence."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from lockstep.checks.exercise import Exercise


def misfit(exercise: Exercise, fn: Callable[..., Any]) -> str | None:
    """Why ``fn`` cannot be called with the published parameters, or None. Names of positional ones are free."""
    if isinstance(fn, type):
        return f"{exercise.function} is a class. Write a function: def {exercise.signature}, which returns its answer."
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # written in C: only calling it will tell
        return None
    names = [p.partition("=")[0].strip() for p in exercise.parameters.split(",")]
    positional = [n for n in names if n not in ("", "group")]
    try:
        signature.bind(*positional, **({"group": None} if "group" in names else {}))
    except TypeError:
        return f"{exercise.function} takes ({exercise.parameters}); yours takes {_told(signature)}."
    return None


def _told(signature: inspect.Signature) -> str:
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def written_signature(node: ast.stmt) -> inspect.Signature | None:
    """The signature of a ``def`` as its text says; None for anything that only running it would tell."""
    if not isinstance(node, ast.FunctionDef) or not all(map(_keeps_signature, node.decorator_list)):
        return None
    a, kind = node.args, inspect.Parameter
    places = [(p, kind.POSITIONAL_ONLY) for p in a.posonlyargs] + [(p, kind.POSITIONAL_OR_KEYWORD) for p in a.args]
    defaults = [None] * (len(places) - len(a.defaults)) + list(a.defaults)
    rows = [_parameter(p, place, default) for (p, place), default in zip(places, defaults, strict=True)]
    rows += [_parameter(a.vararg, kind.VAR_POSITIONAL)] if a.vararg else []
    rows += [_parameter(p, kind.KEYWORD_ONLY, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    rows += [_parameter(a.kwarg, kind.VAR_KEYWORD)] if a.kwarg else []
    return inspect.Signature(rows)


def _keeps_signature(decorator: ast.expr) -> bool:
    """Whether it is one of numba's: @njit, @numba.njit(parallel=True), @cuda.jit."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    last = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
    return last in ("jit", "njit")


def _parameter(name: ast.arg, kind: Any, default: ast.expr | None = None) -> inspect.Parameter:
    return inspect.Parameter(name.arg, kind, default=_AsWritten(default) if default else inspect.Parameter.empty)


class _AsWritten:
    """A default value that is known by its text only."""

    def __init__(self, node: ast.expr) -> None:
        self.text = ast.unparse(node)

    def __repr__(self) -> str:
        return self.text
