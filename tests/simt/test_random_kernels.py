"""Random kernels: what 32 lanes make of them under one mask is what each thread makes of them alone, in Python."""

import linecache
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numba import cuda
from same_examples import given, settings

from lockstep.simt import launch

THREADS = 40  # a full warp and a part of one
VARIABLES = ("x", "y", "z")
WHOLE = np.array([7, -3, 0, 12, 5, 1, -8, 2] * 5)

leaves = st.sampled_from([*VARIABLES, "i", "a[i]", "a[x % 40]", "1", "3", "-2"])
operators = st.sampled_from(["+", "-", "*", "//", "%", "&", "|", "^"])
comparisons = st.sampled_from(["<", "<=", ">", "!=", "=="])


def joined(expressions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(guarded, expressions, operators, expressions),
        st.builds("({} if {} < {} else {})".format, expressions, expressions, expressions, expressions),
        st.builds("min({}, {}) - abs({})".format, expressions, expressions, expressions),
        st.builds("(-{})".format, expressions),
    )


def guarded(left: str, operator: str, right: str) -> str:
    """Kept small, and never divided by 0."""
    divisor = f"(({right}) % 5 + 6)" if operator in ("//", "%") else f"(({right}) % 100)"
    return f"(({left}) % 1000 {operator} {divisor})"


values = st.recursive(leaves, joined, max_leaves=4)
tests = st.one_of(
    st.builds("{} {} {}".format, values, comparisons, values),
    st.builds("{} < {} and a[i] > {}".format, values, values, values),
    st.builds("not {} > {} or {} == {}".format, values, values, values, values),
)
assignments = st.builds("{} {} {}".format, st.sampled_from(VARIABLES), st.sampled_from(["=", "+=", "-="]), values).map(
    lambda line: [line]
)


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def compound(bodies: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    return st.one_of(
        st.builds(lambda t, b: [f"if {t}:", *indented(b)], tests, bodies),
        st.builds(lambda t, b, c: [f"if {t}:", *indented(b), "else:", *indented(c)], tests, bodies, bodies),
        st.builds(loop, values, bodies, st.sampled_from(["pass", "break", "continue", "return"]), tests),
        st.builds(lambda b, c: b + c, bodies, bodies),
    )


def loop(count: str, body: list[str], leave: str, test: str) -> list[str]:
    return [f"for k in range(({count}) % 5):", *indented([*body, f"if {test}:", f"    {leave}", "x += k"])]


bodies = st.recursive(assignments, compound, max_leaves=5)


def kernel_of(lines: list[str]) -> Callable[..., Any]:
    """A function with a source that can be read back, ``store`` before every return."""
    stored = [f"out[{n}, i] = {name}" for n, name in enumerate(VARIABLES)]
    begin = ["i = cuda.grid(1)", "x = i", "y = 2", "z = a[i]"]
    text: list[str] = []
    for line in [*begin, *lines, *stored]:
        if line.strip() == "return":
            space = line[: len(line) - len(line.lstrip())]
            text += [space + one for one in stored]
        text.append(line)
    source = "\n".join(["def kernel(a, out):", *indented(text)]) + "\n"
    linecache.cache["<random kernel>"] = (len(source), None, source.splitlines(True), "<random kernel>")
    names: dict[str, Any] = {"cuda": cuda}
    exec(compile(source, "<random kernel>", "exec"), names)
    function: Callable[..., Any] = names["kernel"]
    return function


def alone(function: Callable[..., Any], a: np.ndarray) -> np.ndarray:
    """Each thread by itself, in Python's own arithmetic."""
    out = np.zeros((len(VARIABLES), THREADS), np.int64)
    for thread in range(THREADS):
        names = {"cuda": types.SimpleNamespace(grid=lambda ndim, thread=thread: thread)}
        mine = types.FunctionType(function.__code__, {**names, "__builtins__": __builtins__})  # type: ignore[arg-type]
        mine(a.tolist(), out)
    return out


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(bodies)
def test_lanes_do_what_threads_do_alone(lines: list[str]) -> None:
    kernel = kernel_of(lines)
    out = np.zeros((len(VARIABLES), THREADS), np.int64)
    found = launch(kernel, 1, THREADS, WHOLE, out)
    assert (out == alone(kernel, WHOLE)).all()
    assert found.findings == ()
