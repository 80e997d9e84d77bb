"""What a kernel may be, and what is said to one that may not: one sentence, with its line."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, njit

from lockstep.errors import LockstepError, UsageError
from lockstep.simt import KernelError, launch
from lockstep.simt.interpreter import loops
from lockstep.simt.launch import THREADS

SIZE = 4
NAMES = ["a"]


def vector(count: int = 32) -> np.ndarray:
    return np.ones(count, np.float32)


@cuda.jit
def decorated(a):
    a[cuda.grid(1)] = 2


@cuda.jit(device=True)
def half(x):
    return x / 2


@njit
def doubled(x):
    return 2 * x


@cuda.jit
def calls_device_functions(a):
    i = cuda.grid(1)
    a[i] = half(a[i]) + doubled(a[i])


def test_decorated_kernels_run_as_they_are() -> None:
    a = vector()
    assert launch(decorated, 1, 32, a).kernel == "decorated"
    assert (a == 2).all()
    found = launch(calls_device_functions, 1, 32, a)
    assert (a == 5).all()
    assert found.line("return x / 2").instructions == 1  # lines of device functions are counted, too
    assert found.line("return 2 * x").lanes == 32


@cuda.jit(device=True)
def block_total(value):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = value
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    return s[0]


def barrier_in_a_device_function(a, out):
    i = cuda.threadIdx.x
    total = block_total(a[i]) + 1
    out[i] = total


def test_a_device_function_may_have_barriers() -> None:
    out = vector(64)
    found = launch(barrier_in_a_device_function, 1, 64, vector(64), out)
    assert (out == 65).all()
    assert found.findings == ()
    assert found.total().barriers == 2 * 7


def closure(size: int) -> Callable[..., None]:
    def kernel(a):
        s = cuda.shared.array(size, float32)
        s[cuda.threadIdx.x] = size
        a[cuda.threadIdx.x] = s[cuda.threadIdx.x] * NUMBERS[1] * SCALE

    return kernel


NUMBERS = (1, 3)
SCALE = np.float32(2)


def test_a_kernel_takes_constants_from_outside() -> None:
    a = vector(4)
    launch(closure(4), 1, 4, a)
    assert (a == 24).all()


def uses_a_list(a):
    b = [1, 2]
    a[0] = b[0]


def uses_a_string(a):
    a[0] = "x"


def uses_with(a):
    with open("x"):
        a[0] = 1


def uses_try(a):
    try:
        a[0] = 1
    except ValueError:
        a[0] = 2


def stores_a_slice(a):
    a[1:3] = 0


def uses_a_step(a):
    a[0] = a[::2][1]


def slice_by_lane(a):
    a[0] = a[cuda.grid(1) :][0]


def uses_unknown(a):
    a[0] = nowhere  # noqa: F821


def uses_len_of_a_number(a):
    a[0] = cuda.grid(1)[0]


def loops_over_an_array(a):
    for x in a:
        a[0] = x


def uses_a_global_list(a):
    a[0] = NAMES[0]


def host_function(x):
    return x + 1


def calls_the_host(a):
    a[0] = host_function(a[0])


def calls_sorted(a):
    a[0] = sorted(a[0])


def wrong_cuda_name(a):
    a[0] = cuda.thread_index


def wrong_method(a):
    a[0] = a.sum()


def float_index(a):
    a[cuda.grid(1) / 2] = 1


def too_many_indices(a):
    a[0, 1] = 1


def stores_a_row(a):
    a[0] = a


def shape_at_run_time(a):
    s = cuda.shared.array(a.size, float32)
    s[0] = 1


def too_much_shared(a):
    s = cuda.shared.array(20_000, float32)
    s[0] = 1


def grid_of_four(a):
    a[cuda.grid(4)] = 1


def step_of_nothing(a):
    for i in range(0, 5, 0):
        a[i] = 1


def barrier_in_and(a):
    if a[0] > 0 and cuda.syncthreads_or(True):
        a[0] = 1


def barrier_without_vote(a):
    cuda.syncthreads(1)
    a[0] = 1


def one_argument_too_many(a):
    a[0] = half(a[0], 2)


def barrier_without_parentheses(a):
    cuda.syncthreads  # noqa: B018
    a[0] = 1


def shuffle_without_mask(a):
    a[0] = cuda.shfl_down_sync(a[0], 1)


def array_as_condition(a):
    if a:
        a[0] = 1


def array_compared(a):
    a[0] = a < 1


def array_negated(a):
    a[0] = -a


def array_added(a):
    a[0] = a + 1


def root_of_an_array(a):
    a[0] = math.sqrt(a)


def keyword_call(a):
    a[0] = math.sqrt(x=2)


@cuda.jit(device=True)
def recursive(n):
    return recursive(n - 1) if n > 0 else 0


def calls_a_recursive_one(a):
    a[0] = recursive(3)


@pytest.mark.parametrize(
    ("kernel", "text", "told"),
    [
        (uses_a_list, "[1, 2]", "cannot use a list"),
        (uses_a_string, '"x"', "cannot use 'x'"),
        (uses_with, "with open", "cannot use `with`"),
        (uses_try, "try:", "cannot use `try`"),
        (stores_a_slice, "a[1:3]", r"has no a\[1:3\] here"),
        (uses_a_step, "::2", "no slices with a step"),
        (slice_by_lane, "[cuda.grid(1) :]", "one start and one stop for all"),
        (uses_unknown, "nowhere", "the name nowhere is not defined"),
        (uses_len_of_a_number, "[0]", "is one number: it has no items"),
        (loops_over_an_array, "for x", "loops over a range or a tuple only"),
        (uses_a_global_list, "NAMES", "NAMES is of type list"),
        (calls_the_host, "host_function", "host_function is a function of the host"),
        (calls_sorted, "sorted", "cannot call sorted"),
        (wrong_cuda_name, "thread_index", "cuda has no thread_index"),
        (wrong_method, "sum", "cannot call a.sum"),
        (float_index, "/ 2", "an index of a is float64"),
        (too_many_indices, "0, 1", "a needs one index, and has 2"),
        (stores_a_row, "= a", "what is stored into a is no number"),
        (shape_at_run_time, "a.size", "a.size is known only at run time"),
        (too_much_shared, "20_000", "with s the block has 80,000 bytes of shared memory. It can have 49,152"),
        (grid_of_four, "grid(4)", "take 1, 2 or 3"),
        (step_of_nothing, "range", "steps of 0"),
        (barrier_in_and, "syncthreads_or", "reached by some threads only"),
        (barrier_without_vote, "syncthreads(1)", "takes no argument"),
        (one_argument_too_many, "half", "half needs 1 arguments, and gets 2"),
        (keyword_call, "sqrt", "by position"),
        (barrier_without_parentheses, "syncthreads", r"If it is a function, call it: cuda.syncthreads\("),
        (shuffle_without_mask, "shfl", "takes members, value, by, and gets 2 arguments"),
        (array_as_condition, "if a", "a is neither true nor false"),
        (array_compared, "a < 1", "a < 1 needs numbers"),
        (array_negated, "-a", "-a needs numbers"),
        (array_added, "a + 1", r"a \+ 1 is no arithmetic of numbers"),
        (root_of_an_array, "sqrt", r"math.sqrt\(a\) does not fit its arguments"),
    ],
)
def test_python_that_no_kernel_can_have_is_told_with_its_line(kernel: Any, text: str, told: str) -> None:
    with pytest.raises(KernelError, match=told) as caught:
        launch(kernel, 1, 32, vector())
    source = Path(__file__).read_text().splitlines()
    assert text in source[caught.value.line - 1]
    assert source.index(f"def {kernel.__name__}(a):") < caught.value.line - 1
    assert str(caught.value).startswith(f"Line {caught.value.line}: ")


def test_recursion_is_refused() -> None:
    with pytest.raises(KernelError, match="recursive calls itself"):
        launch(calls_a_recursive_one, 1, 1, vector())


def rows_of_different_lanes(a, out):
    """In the second turn some lanes are done, and keep the row that they have."""
    i = cuda.grid(1)
    row = a[0]
    for k in range(1 + i % 2):
        row = a[i // 2 + k]
    out[i] = row[1]


def two_arrays_in_one_variable(a, out):
    i = cuda.grid(1)
    x = out
    if i % 2 == 0:
        x = a
    x[i] = 1


def test_lanes_may_look_at_different_rows_and_not_at_different_arrays() -> None:
    a, out = np.arange(60.0).reshape(20, 3), np.zeros(32)
    assert launch(rows_of_different_lanes, 1, 32, a, out).findings == ()
    assert out.tolist() == [a[i // 2 + i % 2, 1] for i in range(32)]
    with pytest.raises(KernelError, match="a variable is a in some threads"):
        launch(two_arrays_in_one_variable, 1, 32, vector(), vector())


def talks(a):
    i = cuda.grid(1)
    if i % 16 == 3:
        print("thread", i, a[i])


def test_print_says_one_line_for_each_thread(capsys: pytest.CaptureFixture[str]) -> None:
    launch(talks, 1, 32, vector())
    assert capsys.readouterr().out == "thread 3 1.0\nthread 19 1.0\n"


def values_of_and_and_or(a):
    i = cuda.grid(1)
    a[i] = (i % 4 and 7 * i) + (i // 16 or 100)


def test_and_and_or_give_a_value_as_in_python() -> None:
    a = np.zeros(32)
    launch(values_of_and_and_or, 1, 32, a)
    assert a.tolist() == [(i % 4 and 7 * i) + (i // 16 or 100) for i in range(32)]


@cuda.jit(device=True)
def reads_too_far(a, i):
    return a[i + 1]


@cuda.jit(device=True)
def has_a_list(x):
    return [x][0]


def calls_reads_too_far(a):
    a[cuda.grid(1)] = reads_too_far(a, cuda.grid(1))


def calls_has_a_list(a):
    a[0] = has_a_list(1)


def test_a_line_of_a_device_function_is_told_with_its_name() -> None:
    """It may stand in another cell, whose lines are counted anew."""
    messages = [f.message for f in launch(calls_reads_too_far, 1, 32, vector()).findings if f.kind == "out_of_bounds"]
    line = reads_too_far.py_func.__code__.co_firstlineno + 2
    assert messages == [f"Line {line} of reads_too_far: thread 31 of block 0 uses index 32 of a, which has 32 items."]
    with pytest.raises(KernelError, match=r"Line \d+ of has_a_list: a kernel cannot use a list"):
        launch(calls_has_a_list, 1, 32, vector())


STEPS = (1, 2, 4)


def loops_over_tuples(a):
    i = cuda.grid(1)
    for step in STEPS:
        for factor in (10, i):
            if factor == 5:
                continue
            a[i] += step * factor


def test_a_tuple_can_be_looped_over() -> None:
    a = np.zeros(32)
    launch(loops_over_tuples, 1, 32, a)
    assert a.tolist() == [70 if i == 5 else 70 + 7 * i for i in range(32)]


def endless(a):
    while a[0] > 0:
        a[0] += 1


def test_a_loop_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "TURNS", 500)
    with pytest.raises(KernelError, match="has turned 500 times in one warp"):
        launch(endless, 1, 1, vector())


def strides_on(a):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        a[i] = i


def test_a_long_loop_over_a_range_is_none_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """One warp strides over a long vector: that is slow, and right."""
    monkeypatch.setattr(loops, "TURNS", 10)
    a = vector(3200)
    launch(strides_on, 1, 32, a)
    assert (a == np.arange(3200)).all()


def optional(a, b=1):
    a[0] = b


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((decorated, 0, 32, vector()), "grid is 0"),
        ((decorated, 1, (8, 8, 8, 8), vector()), "block is"),
        ((decorated, 1.5, 32, vector()), "grid is 1.5"),
        ((decorated, 1, 2 * THREADS, vector()), "has 2,048 threads"),
        ((decorated, 1, (1, 1, 65), vector()), "at most"),
        ((decorated, 1, 32), "needs 1 arguments"),
        ((decorated, 1, 32, [1, 2]), "argument a is of type list"),
        ((decorated, 1, 32, np.array(["x"])), "items of type"),
        ((decorated, 1, 4, np.ndarray(4, np.float32, bytearray(64), strides=(8,))), "view of memory with gaps"),
        ((optional, 1, 32, vector(), 1), "optional parameters"),
        ((print, 1, 32), "is no kernel"),
        ((lambda a: a, 1, 32, vector()), "is no kernel"),
    ],
)
def test_launches_that_no_gpu_takes_are_told(arguments: tuple[Any, ...], told: str) -> None:
    with pytest.raises(LockstepError, match=told):
        launch(*arguments)


def test_shared_bytes_have_limits() -> None:
    with pytest.raises(UsageError, match="shared_bytes"):
        launch(decorated, 1, 32, vector(), shared_bytes=1_000_000)


def test_a_line_that_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="No line of decorated"):
        launch(decorated, 1, 32, vector()).line("nothing like this")


def test_read_only_arrays_are_read() -> None:
    a, out = vector(), np.zeros(32, np.float32)
    a.flags.writeable = False
    launch(copied, 1, 32, a, out)
    assert out.all()


def test_views_of_another_shape_and_type_are_changed_in_place() -> None:
    a = np.zeros((4, 16), np.int32)
    launch(decorated, 1, 8, a.view(np.float32).reshape(-1)[4:])
    assert (a.view(np.float32).ravel()[4:12] == 2).all()
    assert a.astype(bool).sum() == 8
    launch(two_by_two, 1, (2, 2), a.T[2:, 1:])
    assert a[1:3, 2:4].tolist() == [[0, 10], [1, 11]]


def two_by_two(a):
    x, y = cuda.grid(2)
    a[x, y] = 10 * x + y


def copied(a, out):
    out[cuda.grid(1)] = a[cuda.grid(1)]


def aliased(a, b):
    i = cuda.grid(1)
    if i < 31:
        a[i] = b[i + 1]


def test_one_array_passed_twice_is_one_memory() -> None:
    a = np.arange(32.0)
    (race,) = launch(aliased, 1, 32, a, a).findings
    assert race.kind == "race"
    assert (a[:31] == np.arange(1, 32)).all()


def test_a_kernel_without_source_is_told() -> None:
    names: dict[str, Any] = {}
    exec("def kernel(a):\n    a[0] = 1\n", names)
    with pytest.raises(KernelError, match="source of kernel cannot be read"):
        launch(names["kernel"], 1, 1, vector())


def test_errors_travel_between_processes() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(KernelError("no.", "Do.", 7)))
    assert (error.line, str(error)) == (7, "Line 7: no.\nDo.")


@pytest.mark.slow
def test_nothing_imports_a_driver_or_asks_for_a_gpu() -> None:
    """The machine is imported in a process that cannot load CUDA, and stays quick to import."""
    code = (
        "import sys; import lockstep.simt; assert 'numba' not in sys.modules;"
        "import numpy as np; from numba import cuda; from lockstep.simt.kernels import vector_add; a = np.ones(32);"
        "lockstep.simt.launch(vector_add, 1, 32, a, a, np.zeros(32));"
        "from numba.cuda.cudadrv.driver import driver; assert driver.pid is None"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def dynamic_without_bytes(a):
    s = cuda.shared.array(0, float32)
    s[cuda.threadIdx.x] = 1


def dynamic_and_static(a):
    s = cuda.shared.array(0, float32)
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[20_000 + t] = t
    tile[t] = s[20_000 + t]
    a[t] = tile[t]


def test_dynamic_shared_memory_is_as_large_as_the_launch_says() -> None:
    (finding,) = launch(dynamic_without_bytes, 1, 32, vector()).findings
    assert finding.message.endswith("uses index 0 of s, which has 0 items.")
    a = vector()
    assert launch(dynamic_and_static, 1, 32, a, shared_bytes=100_000).findings == ()
    assert (a == np.arange(32)).all()


def two_dynamic_arrays(a, n):
    """As numba's manual cuts dynamic shared memory into pieces."""
    s = cuda.shared.array(0, float32)
    left, right = s[:n], s[n:]
    t = cuda.threadIdx.x
    left[t] = t
    right[t] = 10 * t
    cuda.syncthreads()
    a[t] = left[right.size - 1 - t] + right[t]


def through_a_slice(a):
    t = cuda.threadIdx.x
    a[1:][t] = a[t]


def test_a_slice_is_a_view() -> None:
    a = vector()
    assert launch(two_dynamic_arrays, 1, 32, a, 32, shared_bytes=256).findings == ()
    assert a.tolist() == [31 - t + 10 * t for t in range(32)]
    kinds = {finding.kind for finding in launch(through_a_slice, 1, 32, vector()).findings}
    assert kinds == {"race", "out_of_bounds"}


def test_a_warp_that_is_not_there_cannot_be_recorded() -> None:
    with pytest.raises(UsageError, match=r"blocks 0 to 3, and each has warps 0 to 1"):
        launch(decorated, (2, 2), 64, vector(256), record=(4, 0))
