"""The library's own answers, and what its judges know, are refused by what runs: under any name, as any copy."""

from __future__ import annotations

import gc
import sys
import types
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from cheats import CHEATS, CODE, what_the_guard_keeps

from lockstep import checks
from lockstep.checks import guard, reach
from lockstep.checks.exercise import Exercise
from lockstep.checks.guard import LibraryAnswer, references_refuse
from lockstep.checks.reach import loaded, reached
from lockstep.collectives import exchange, ring, ring_all_reduce

RING = "communication.ring_all_reduce"


@pytest.mark.runs("exercise")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("exercise", checks.exercises(), ids=lambda e: e.function)
def test_an_answer_that_is_the_librarys_function_is_refused(exercise: Exercise) -> None:
    """All of them had full points for it."""
    score = checks.check(exercise.id, exercise.reference_function())
    assert [f.misconception for f in score.findings] == ["library-call"], score.text()
    assert score.points == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
@pytest.mark.parametrize("fn", CHEATS)
def test_a_copy_of_the_librarys_function_is_refused(fn: Any, on: str) -> None:
    score = checks.check(RING, fn, on=on)
    assert [f.misconception for f in score.findings] == ["library-call"], score.text()


def test_where_a_run_has_a_process_of_its_own_nothing_is_kept_to_open_it_again() -> None:
    score = checks.check(RING, what_the_guard_keeps)
    assert score.verdict == "wrong"
    assert score.points == 0


def opens(tensor: Any, group: Any = None) -> Any:
    guard._shut = None
    return ring_all_reduce(tensor, group)


def test_opening_the_door_does_not_bring_the_functions_back() -> None:
    assert [f.misconception for f in checks.check(RING, opens).findings] == ["library-call"]


def test_a_judges_helper_is_refused() -> None:
    """What an exercise computes to know the right answer was a full answer."""

    def helper(nbytes: Any, ranks: Any, alpha: Any, beta: Any) -> Any:
        from lockstep.checks.case import Case
        from lockstep.exercises.communication.choose_algorithm.exercise import cheapest

        return min(cheapest(Case(1, seed=nbytes))[0])

    score = checks.check("communication.choose_algorithm", helper)
    assert [f.misconception for f in score.findings] == ["library-call"], score.text()


def test_the_librarys_class_is_refused_where_a_loader_is_wanted() -> None:
    """resume_exactly returned the library's ResumableLoader, and so could an answer: it had full points."""

    def resume(samples: Any, batch: Any, rank: Any, ranks: Any, seed: Any) -> Any:
        from lockstep.bottlenecks.resumable import ResumableLoader

        return ResumableLoader(samples, batch, rank, ranks, seed)

    score = checks.check("bottlenecks.resume_exactly", resume)
    assert [f.misconception for f in score.findings] == ["library-call"], score.text()
    assert score.points == 0


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_a_judges_function_in_a_file_is_refused(on: str, tmp_path: Path) -> None:
    imported = "from lockstep.exercises.arithmetic import drawn"
    text = f"{imported}\n\n\ndef amdahl(p, s):\n    return drawn and 1.0\n"
    (tmp_path / "answer.py").write_text(text)
    score = checks.check_file("why_parallel.amdahl", tmp_path / "answer.py")
    assert score.points == 0


def test_what_a_watch_needs_stays_open_and_everything_is_open_afterwards() -> None:
    from lockstep.checks.rank_program import play_pure
    from lockstep.exercises.scikit_learn import workers
    from lockstep.exercises.scikit_learn.parallel_forest.exercise import watch, wrong

    assert workers.lost in reached([play_pure, watch], guard.JUDGES)
    with references_refuse("lockstep.collectives", play_pure, watch):
        with pytest.raises(LibraryAnswer):
            ring_all_reduce(None)  # type: ignore[arg-type]
        with pytest.raises(LibraryAnswer):
            wrong((), {})
        assert workers.lost({"lost": False}, "what they count") is None
    assert wrong is not None
    assert not guard.refused()
    assert ring_all_reduce.__code__ is CODE
    assert types.FunctionType(CODE, vars(ring)).__code__ is CODE


def test_who_has_looked_ahead_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server goes from function to function once, for all its children, and they go on from there; also where it did
    so before a module was loaded that they need."""
    from lockstep.checks.rank_program import play, play_pure
    from lockstep.exercises.scikit_learn.parallel_forest.exercise import watch

    for run, needed in [(play, guard.references_refuse), (play_pure, watch)]:
        monkeypatch.setattr(guard, "_ahead", None)
        anew = guard._functions("lockstep.collectives", (run, needed))
        with monkeypatch.context() as before:
            before.setattr(reach, "loaded", lambda packages: loaded(("lockstep.checks.",)))
            guard.look_ahead(guard.references_refuse)
        assert guard._ahead
        began = set(guard._ahead.found)
        assert guard._functions("lockstep.collectives", (run, needed)) == anew
        assert guard._ahead.found == began
    assert watch in anew[1]


def test_a_server_that_has_loaded_something_has_looked_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    from lockstep.checks.load import FromFile
    from lockstep.forking import gc_freeze

    monkeypatch.setattr(guard, "_ahead", None)
    try:
        gc_freeze.freeze()
    finally:
        gc.unfreeze()
        gc_freeze._frozen.clear()
    assert guard._ahead
    assert FromFile.__call__ in guard._ahead.found


def test_what_a_watch_holds_of_the_library_stays_open() -> None:
    """So an exercise allows some functions of a package that has its answer."""

    def watch(allowed: Any) -> None: ...

    with references_refuse("lockstep.collectives", partial(watch, allowed=exchange)):
        assert exchange.__code__ is not guard._refuse.__code__
        assert ring_all_reduce.__code__ is guard._refuse.__code__
    assert ring_all_reduce.__code__ is CODE


def test_a_closure_that_a_watch_holds_stays_open_where_its_module_is_loaded() -> None:
    """It comes pickled by value. Where its module was not loaded nobody refused it; where it was, answers that were
    right had called the library's."""
    from lockstep.exercises.without_waiting import evidence

    watch = evidence.noting(lambda fn: fn)
    with references_refuse("lockstep.collectives", watch):
        again = types.FunctionType(watch.__code__, {}, "again", None, watch.__closure__)  # as unpickling does
        assert again.__code__ is watch.__code__
        assert watch.__code__ is not guard._refuse.__code__
        with pytest.raises(LibraryAnswer):
            ring_all_reduce(None)  # type: ignore[arg-type]


def test_modules_are_found_however_they_came() -> None:
    """Those that are new, those that were taken away and came again, and none that is gone."""

    def names() -> list[str]:
        return [name for name, _ in loaded(("lockstep.played",))]

    first, second = (types.ModuleType(f"lockstep.played_{n}") for n in "ab")
    assert set(loaded(("lockstep.",))) >= {(n, m) for n, m in list(sys.modules.items()) if n.startswith("lockstep.")}
    try:
        sys.modules[first.__name__] = first
        assert names() == ["lockstep.played_a"]
        del sys.modules[first.__name__]
        assert names() == []
        sys.modules[first.__name__] = first
        assert names() == ["lockstep.played_a"]
        del sys.modules[first.__name__]
        sys.modules[second.__name__] = second
        sys.modules[first.__name__] = first
        assert set(names()) == {"lockstep.played_a", "lockstep.played_b"}
    finally:
        for module in (first, second):
            sys.modules.pop(module.__name__, None)


def drawn(n: int) -> int:
    """``lockstep.exercises.arithmetic`` has a function of this name, too."""
    return n


def test_a_name_is_looked_up_where_it_is_used() -> None:
    """A watch that called a function of its own opened all those of the judges that have the same name, and what these
    call: 790 of them once, for two private names."""
    from lockstep.exercises import arithmetic

    def watch() -> int:
        return drawn(1)

    assert reached([watch], guard.JUDGES) == {watch}
    assert arithmetic.drawn not in reached([watch], guard.JUDGES)


def test_an_answer_that_looks_like_the_librarys_is_a_learners_own() -> None:
    """Short answers are written alike by many."""

    def amdahl(p: float, s: int) -> float:
        return 1 / ((1 - p) + p / s)

    assert checks.check("why_parallel.amdahl", amdahl).passed


@pytest.mark.slow
def test_a_group_is_made_as_before() -> None:
    def own(tensor: Any, group: Any = None) -> Any:
        others = [tensor.new_empty(tensor.shape) for _ in range(dist.get_world_size(group))]
        dist.all_gather(others, tensor.contiguous(), group=group)
        return others[dist.get_rank(group) - 1]

    assert checks.check("communication.mend_ring_of_sends", own).verdict == "wrong"


def test_what_a_partial_carries_is_needed_too() -> None:
    """Every answer to a compiled exercise was told that it calls the library: its watch is a partial, which carries an
    object with functions of the exercise."""
    from lockstep.checks.rank_program import play_pure
    from lockstep.exercises.cpu.kernels import last_array
    from lockstep.exercises.cpu.saxpy.exercise import EXERCISE

    for watch in (EXERCISE.run.watch, EXERCISE.run.watch_known):  # the second is a method of that object
        assert watch is not None
        assert last_array in reached([play_pure, watch], guard.JUDGES)
