"""Modules of the learner's own: each rank has its own copy on the virtual cluster, as on processes.

They were shared: a cached ``get_rank`` gave [0, 0], and a manager of process groups in a module was the last rank's.
"""

from __future__ import annotations

import importlib
import os
import sys
import textwrap
from pathlib import Path

import pytest

from lockstep import run
from lockstep.errors import RankRaised, UsageError

WORLDS = ["dgx-a100", "processes"]


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Writes modules beside the notebook: ``beside(name="source", ...)``, "__" for "/"."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(**sources: str) -> Path:
        for name, source in sources.items():
            path = tmp_path / (name.replace("__", "/").replace("/init", "/__init__") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(source))
        importlib.invalidate_caches()
        return tmp_path

    yield write
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


STATE = """
import functools, os
import torch.distributed as dist

AT_IMPORT = os.environ.get("RANK")
manager = None

class Settings:
    seen = 0

@functools.lru_cache
def get_rank():
    return dist.get_rank()

def setup(value):
    global manager
    manager = value
"""


@pytest.mark.parametrize("on", WORLDS)
def test_what_a_module_keeps_is_the_ranks(on, beside):
    beside(lk_state=STATE)
    import lk_state  # as in a notebook: it counts, too

    def fn():
        import torch.distributed as dist

        lk_state.setup(10 * lk_state.get_rank())
        lk_state.Settings.seen += 1
        dist.barrier()
        from lk_state import get_rank

        return lk_state.AT_IMPORT, get_rank(), lk_state.manager, lk_state.Settings.seen

    assert run(fn, ranks=3, on=on).values == [("0", 0, 0, 1), ("1", 1, 10, 1), ("2", 2, 20, 1)]


@pytest.mark.parametrize("on", WORLDS)
def test_a_function_of_a_module_runs_in_the_ranks_own(on, beside):
    """It travels by its name alone."""
    beside(lk_state=STATE, lk_main="import lk_state\n\ndef main():\n    return lk_state.get_rank()\n")
    import lk_main

    assert run(lk_main.main, ranks=3, on=on).values == [0, 1, 2]


def ways():
    """All ways to a module of a package, also later, in another thread, by pickle and in a circle."""
    import pickle
    import threading

    import lk_pkg.inner.first as by_path
    import torch.distributed as dist
    from lk_pkg.inner import first as by_name
    from lk_pkg.inner import second

    me = dist.get_rank()
    by_name.value = me
    dist.barrier()
    found = []

    def look():
        import lk_pkg.inner.first

        found.extend([lk_pkg.inner.first.value, importlib.import_module("lk_pkg.inner.first").value])
        found.append(importlib.import_module(".first", "lk_pkg.inner").value)
        found.append(sys.modules["lk_pkg.inner.first"].value)
        found.append(second.later())
        found.append(pickle.loads(pickle.dumps(by_name.get))())
        found.append(me if pickle.loads(pickle.dumps(by_name.Pair(1, "a"))) == by_name.Pair(1, "a") else "unequal")
        found.append(me if by_path is by_name is lk_pkg.inner.first else "another module")

    look()
    thread = threading.Thread(target=look)
    thread.start()
    dist.barrier()  # the baton is with another rank meanwhile
    thread.join()
    told = [None] * dist.get_world_size()
    dist.all_gather_object(told, by_name.Pair(me, "b"))
    same = all(type(pair) is by_name.Pair for pair in told)
    return set(found), [pair.number for pair in told], same, "lk_pkg.inner.first" in list(sys.modules)


@pytest.mark.slow
@pytest.mark.parametrize("on", WORLDS)
def test_every_way_to_import_leads_to_the_ranks_own(on, beside):
    beside(
        lk_pkg__init="from lk_pkg import inner\n",
        lk_pkg__inner__init="from . import first, second\n",
        lk_pkg__inner__first="""
            from __future__ import annotations
            import dataclasses, sys, typing
            from . import second  # a circle: neither is whole yet
            value = None

            @dataclasses.dataclass
            class Pair:
                number: int
                name: typing.ClassVar[str] = ""
                name: str = ""

            def get():
                return sys.modules[__name__].value
            """,
        lk_pkg__inner__second="""
            from . import first
            import lk_pkg.inner.first as same

            def later():
                from .first import value
                assert same is first
                return value
            """,
    )
    values = run(ways, ranks=3, on=on).values
    assert values == [({r}, [0, 1, 2], True, True) for r in range(3)]


def test_lines_are_those_of_the_file(beside):
    beside(lk_wrong="import torch.distributed as dist\n\ndef fails():\n    return [1, 2][dist.get_rank() + 1]\n")
    import lk_wrong

    with pytest.raises(RankRaised, match="IndexError") as caught:
        run(lk_wrong.fails, ranks=2, on="dgx-a100")
    assert "lk_wrong.py, line 4, in fails: return [1, 2][dist.get_rank() + 1]" in str(caught.value)


@pytest.mark.parametrize("on", WORLDS)
def test_a_module_that_raises_on_one_rank(on, beside):
    """The others have it; that rank may try again, and meets the same error."""
    beside(lk_picky="import os\nif os.environ['RANK'] == '1':\n    raise RuntimeError('not here')\n")

    def fn():
        told = []
        for _ in range(2):
            try:
                import lk_picky

                told.append(lk_picky.__name__)
            except RuntimeError as error:
                told.append(str(error))
        return told

    assert run(fn, ranks=3, on=on).values == [["lk_picky"] * 2, ["not here"] * 2, ["lk_picky"] * 2]

    def uncaught():
        import lk_picky  # noqa: F401

    with pytest.raises(RankRaised, match="rank 1 raised RuntimeError: not here") as caught:
        run(uncaught, ranks=3, on=on)
    assert "lk_picky.py, line 3" in str(caught.value)


@pytest.mark.parametrize("on", WORLDS)
def test_a_module_that_communicates_while_it_is_imported(on, beside):
    """Python locks a module while it is imported: a rank that gave the baton away there held all others."""
    beside(
        lk_early="""
        import torch, torch.distributed as dist
        dist.init_process_group("gloo")
        pair = dist.new_group([0, 1])
        total = torch.tensor([dist.get_rank() + 1.0])
        dist.all_reduce(total)
        dist.barrier()
        """
    )

    def fn():
        import lk_early

        return lk_early.total.item()

    assert run(fn, ranks=3, on=on).values == [6.0] * 3


@pytest.mark.parametrize("on", WORLDS)
def test_a_module_that_starts_a_thread(on, beside):
    """What the thread imports is its rank's."""
    beside(
        lk_state=STATE,
        lk_busy="""
        import threading
        ready, told = threading.Event(), []

        def work():
            ready.wait()
            import lk_state
            told.append(lk_state.manager)

        thread = threading.Thread(target=work)
        thread.start()
        """,
    )

    def fn():
        import lk_busy
        import lk_state
        import torch.distributed as dist

        lk_state.setup(dist.get_rank())
        dist.barrier()
        lk_busy.ready.set()
        dist.barrier()
        lk_busy.thread.join()
        return lk_busy.told

    assert run(fn, ranks=3, on=on).values == [[0], [1], [2]]


@pytest.mark.parametrize("on", WORLDS)
def test_reload_gives_the_same_module_new_contents(on, beside):
    directory = beside(lk_changing="value = 'old'\n")

    def fn():
        import lk_changing
        import torch.distributed as dist

        before = lk_changing
        lk_changing.mine = dist.get_rank()
        dist.barrier()
        if dist.get_rank() == 0:
            directory.joinpath("lk_changing.py").write_text("value = 'newer'\n")
            importlib.reload(lk_changing)
        dist.barrier()
        return lk_changing.value, lk_changing.mine, before is lk_changing

    assert run(fn, ranks=2, on=on).values == [("newer", 0, True), ("old", 1, True)]


@pytest.mark.parametrize("on", WORLDS)
def test_one_file_under_two_names_is_two_modules(on, beside):
    directory = beside(lk_twice__init="", lk_twice__part="value = None\n")

    def fn():
        sys.path.insert(0, str(directory / "lk_twice"))
        import part
        import torch.distributed as dist
        from lk_twice import part as other

        part.value, other.value = dist.get_rank(), -dist.get_rank()
        dist.barrier()
        return part.value, other.value, part.__file__ == other.__file__

    assert run(fn, ranks=3, on=on).values == [(0, 0, True), (1, -1, True), (2, -2, True)]


@pytest.mark.parametrize("on", WORLDS)
def test_a_module_that_puts_something_else_in_its_place(on, beside):
    beside(
        lk_object="""
        import os, sys
        class Settings:
            rank = int(os.environ.get("RANK", -1))
        sys.modules[__name__] = Settings()
        """
    )

    def fn():
        import lk_object

        return lk_object.rank

    assert run(fn, ranks=3, on=on).values == [0, 1, 2]


@pytest.mark.parametrize("on", WORLDS)
def test_an_extension_module_in_a_package_is_loaded_once(on, beside):
    """A process cannot load it twice. Each rank finds it in its own copy of the package."""
    import _heapq

    directory = beside(lk_fast__init="import lk_fast._heapq\nvalue = None\n")
    if not getattr(_heapq, "__file__", None):
        pytest.skip("this Python has no extension module of its own as a file")
    (directory / "lk_fast" / Path(_heapq.__file__).name).symlink_to(_heapq.__file__)

    def fn():
        import lk_fast
        import torch.distributed as dist

        lk_fast.value = dist.get_rank()
        dist.barrier()
        heap = [3, 1, 2]
        lk_fast._heapq.heapify(heap)
        return lk_fast.value, heap[0], sys.modules["lk_fast._heapq"] is lk_fast._heapq

    assert run(fn, ranks=3, on=on).values == [(0, 1, True), (1, 1, True), (2, 1, True)]


@pytest.mark.parametrize("on", WORLDS)
def test_a_directory_without_init_is_a_package_too(on, beside):
    beside(lk_space__part="import os\nrank = os.environ['RANK']\n")

    def fn():
        import lk_space.part
        import torch.distributed as dist

        dist.barrier()
        return lk_space.part.rank

    assert run(fn, ranks=3, on=on).values == ["0", "1", "2"]


@pytest.mark.parametrize("on", WORLDS)
def test_a_class_of_the_notebook_is_the_ranks_and_travels(on):
    """Ranks shared it, with its attributes; and object collectives could not pickle it: "attribute lookup Counter on
    __main__ failed"."""
    notebook = {"__name__": "__main__"}
    source = """
import torch.distributed as dist
class Counter:
    number = 0
def fn():
    Counter.number += 1
    dist.barrier()
    told = [None] * dist.get_world_size()
    dist.all_gather_object(told, Counter())
    return Counter.number, [type(counter) is Counter for counter in told]
"""
    exec(source, notebook)
    assert run(notebook["fn"], ranks=3, on=on).values == [(1, [True] * 3)] * 3


def test_many_ranks_compile_a_package_once(beside):
    beside(lk_state=STATE, lk_counted="import lk_state\nprint('imported')\n")

    def fn():
        import lk_counted

        return lk_counted.lk_state.get_rank(), id(lk_counted.lk_state.setup.__code__)

    result = run(fn, ranks=64, on="dgx-a100")
    assert [rank for rank, _ in result.values] == list(range(64))
    assert len({code for _, code in result.values}) == 1
    assert result.printed.count("imported") == 64


def test_without_modules_of_ones_own_python_is_as_it_was():
    """Nothing is routed that need not be: it would cost time."""
    notebook = {"__name__": "__main__"}
    source = """
def fn():
    import builtins, json, sys
    return type(sys.modules) is dict, type(builtins.__import__).__name__, json.__name__
"""
    exec(source, notebook)
    assert run(notebook["fn"], ranks=2, on="dgx-a100").values == [(True, "builtin_function_or_method", "json")] * 2


@pytest.mark.parametrize("on", WORLDS)
def test_isolate_names_installed_packages(on, beside):
    """An installed module is shared by the ranks of the virtual cluster, unless it is named."""
    directory = beside()
    installed = directory / "site-packages"
    installed.mkdir()
    (installed / "lk_installed.py").write_text("value = []\n")

    def fn():
        sys.path.insert(0, str(installed))
        import lk_installed
        import torch.distributed as dist

        lk_installed.value.append(dist.get_rank())
        dist.barrier()
        return sorted(lk_installed.value)

    sys.path.insert(0, str(installed))
    try:
        shared = run(fn, ranks=2, on=on).values
        assert shared == ([[0, 1], [0, 1]] if on == "dgx-a100" else [[0], [1]])
        for fake in {False, on == "dgx-a100"}:
            assert run(fn, ranks=2, on=on, isolate=["lk_installed"], fake=fake).values == [[0], [1]]
    finally:
        sys.path.remove(str(installed))


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (["no_such_package"], "there is no package 'no_such_package' here"),
        (["json.decoder"], "there is no package 'json.decoder' here"),
        ("cloudpickle", "isolate is a list of packages, not 'cloudpickle'"),
        ([3], "isolate is a list of packages, not [3]"),
        (["__main__"], "there is no package '__main__' here"),
        (["torch"], "all ranks of a process share torch"),
        (["os"], "all ranks of a process share os"),
    ],
)
@pytest.mark.parametrize("on", WORLDS)
def test_what_cannot_be_isolated_gets_one_sentence(on, named, told):
    with pytest.raises(UsageError) as caught:
        run(os.getpid, ranks=1, on=on, isolate=named)
    assert told in caught.value.message
