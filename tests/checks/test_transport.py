"""What ranks hand back to a check is data: it runs nothing where it is judged, and each rank has its own alone."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import struct
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import torch
import torch.distributed as dist

from lockstep import checks
from lockstep.checks.observe import observe
from lockstep.checks.plain import SAVED, Other
from lockstep.checks.transport import Unreadable, decoded, encoded
from lockstep.comm import restricted_pickle
from lockstep.errors import RankDied
from lockstep.places import Helper, Place
from lockstep.worlds import run_sealed

RING = "communication.ring_all_reduce"


class Bomb:
    """It leaves a file in the process that opens its pickle."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


class Shaped(torch.Tensor):
    pass


class Text(str):
    pass


def with_head(head: Any) -> bytes:
    """Tensors, of which there is only the head."""
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text


NO_TENSORS = with_head({})


def test_values_come_back_as_they_were_in_exact_types() -> None:
    value = [None, True, -3, 2.5, float("inf"), "ä\ud800", (1, [2]), {"a": {"b": torch.arange(6).reshape(2, 3)}}]
    back = decoded(encoded(value))
    assert back[:-1] == value[:-1]
    assert torch.equal(back[-1]["a"]["b"], value[-1]["a"]["b"])  # type: ignore[index, call-overload]
    for dtype in SAVED:
        for shape in ((), (0,), (2, 0), (3,), (2, 2)):
            tensor = torch.ones(shape).to(dtype)
            again = decoded(encoded(tensor))
            assert (again.dtype, again.shape, type(again)) == (dtype, tensor.shape, torch.Tensor)
            assert torch.equal(again, tensor)
    assert torch.equal(decoded(encoded(torch.arange(6).reshape(2, 3).t())), torch.arange(6).reshape(2, 3).t())
    assert torch.equal(decoded(encoded(torch.ones(1).expand(1))), torch.ones(1)), "its stride is 0"
    assert type(decoded(encoded(torch.ones(2).as_subclass(Shaped)))) is torch.Tensor
    assert type(decoded(encoded(Text("x")))) is str
    assert decoded(encoded([object, 10**6000]))[1] == Other("int", "a number of more than 3,000 digits")
    assert type(decoded(encoded({1: 2}))) is Other
    assert type(decoded(encoded(torch.ones(2).to_sparse()))) is Other


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"1234567",
        b"none\n" + NO_TENSORS,
        b"[]",
        b"[]\n" + struct.pack("<Q", 1 << 60),
        pickle.dumps(Bomb("/nowhere")),
        b'{"tensor": "3"}\n' + NO_TENSORS,
        b'{"tensor": []}\n' + NO_TENSORS,
        b'{"code": 3}\n' + NO_TENSORS,
        b"{}\n" + NO_TENSORS,
        b"[]\n" + with_head({"0": {"dtype": "F32", "shape": [1 << 50], "data_offsets": [0, 1 << 52]}}),
        b"[]\n" + with_head({"0": {"dtype": "object", "shape": [1], "data_offsets": [0, 8]}}),
        b"[" * 100_000 + b"\n" + NO_TENSORS,
    ],
)
def test_other_bytes_are_refused(blob: bytes) -> None:
    with pytest.raises(Unreadable):
        decoded(blob)


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_an_object_of_a_learner_runs_nothing_where_it_is_judged(on: str, tmp_path: Path) -> None:
    mark = str(tmp_path / "judge")

    def answer(tensor: Any, group: Any = None) -> Any:
        return Bomb(mark)

    score = checks.check(RING, answer, on=on)
    assert score.verdict == "wrong"
    assert "where a tensor is wanted" in score.findings[0].message
    assert not os.path.exists(mark)


def speaks_out_of_turn(blob: bytes) -> bytes:
    """A rank that finds the connection to its starter, and writes to it itself."""
    import gc
    from multiprocessing.connection import Connection

    for found in gc.get_objects():
        if isinstance(found, Connection) and found.writable:
            found.send_bytes(blob)
    return b""


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_a_message_that_a_learner_has_forged_runs_nothing(on: str, tmp_path: Path) -> None:
    mark = tmp_path / "judge"
    with pytest.raises(RankDied, match="has closed files that it had not opened, or written to them"):
        run_sealed(lambda blob: speaks_out_of_turn(blob), own=[pickle.dumps(Bomb(str(mark)))], on=on)
    assert not mark.exists()


def writes_into_its_journal(path: str) -> bytes:
    """A rank that appends to every file that it has open for writing: its journal is among them."""
    for fd in os.listdir("/proc/self/fd"):
        try:
            if "journal" in os.readlink(f"/proc/self/fd/{fd}"):
                os.write(int(fd), pickle.dumps((0, Bomb(path))))
        except OSError:
            pass
    dist.barrier()
    return b"1"


def test_a_journal_that_a_learner_has_forged_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "judge"
    assert run_sealed(writes_into_its_journal, own=[str(mark)], on="processes").values == [b"1"]
    assert not mark.exists()


def test_facts_are_plain_data_only() -> None:
    with pytest.raises(restricted_pickle.Forged, match=r"posix\.mkdir is no fact"):
        restricted_pickle.opened(pickle.dumps(Bomb("/nowhere")))
    with pytest.raises(restricted_pickle.Forged):
        restricted_pickle.opened(b"")
    with pytest.raises(restricted_pickle.Forged):
        restricted_pickle.opened(b"no pickle")


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_a_rank_is_given_its_own_arguments_only(on: str) -> None:
    """Every rank had what all of them were given, one frame further out: it could add them up without a message."""

    def looks_up(tensor: Any, group: Any = None) -> Any:
        import sys

        frame, found = sys._getframe(1), []
        while frame and frame.f_code.co_name != "outermost" and len(found) < 9:
            found += [a.arguments for a in (frame.f_locals.get("act"), *frame.f_locals.get("acts", [])) if a]
            frame = frame.f_back
        held = [a for arguments in found for a in arguments if isinstance(a, torch.Tensor)]
        return sum(h.sum() for h in held if h.data_ptr() != tensor.data_ptr())

    exercise = checks.find(RING)
    (case,) = [c for c in exercise.cases(4, 0) if c.group is None][:1]
    from lockstep.checks.observe import acts_by_rank

    rows = acts_by_rank(exercise, [case])
    assert len(rows) == 4
    for rank, (act,) in enumerate(rows):
        assert torch.equal(act.arguments[0], exercise.inputs(case, rank)[0])
    assert observe(exercise, looks_up, on).seen


@pytest.mark.slow
def test_the_judge_rejects_values_that_are_none() -> None:
    """A program that replaces what encodes its values ends its own check, and no other."""

    def forges(tensor: Any, group: Any = None) -> Any:
        from lockstep.checks import rank_program

        rank_program.encoded = lambda value: b"nonsense"
        return tensor

    score = checks.check("communication.mend_ring_of_sends", forges)
    assert (score.verdict, score.points) == ("crashed", 0)


def test_a_tensor_without_numbers_is_told_as_what_it_is() -> None:
    """It was written again and again until the stack was full: a model on the meta device, as an argument or a result,
    was told as a RecursionError of the learner's."""
    told = decoded(encoded([torch.ones(2), torch.empty(3, device="meta")]))
    assert torch.equal(told[0], torch.ones(2))
    assert told[1] == Other("Tensor", "a tensor on the meta device, without numbers, of shape (3,)")


def _named_in(annotation: Any) -> set[type]:
    """The classes of Lockstep that an annotation names: of ``Helper | None`` that is Helper."""
    inner = set().union(*map(_named_in, get_args(annotation)))
    return inner | ({annotation} if str(getattr(annotation, "__module__", "")).startswith("lockstep.") else set())


@pytest.mark.parametrize("name", sorted(restricted_pickle.FACTS))
def test_what_a_fact_is_made_of_is_a_fact(name: str) -> None:
    """A place got a helper, and each check of a deadlock's line under a launcher became "Forged: … is no fact"."""
    module, _, fact = name.rpartition(".")
    fact = getattr(importlib.import_module(module), fact)
    hints = get_type_hints(fact) if isinstance(fact, type) and hasattr(fact, "__annotations__") else {}
    parts = {f"{part.__module__}.{part.__qualname__}" for part in set().union(*map(_named_in, hints.values()))}
    assert parts <= restricted_pickle.FACTS | {"lockstep.events.Event"}, "events alone travel otherwise, as columns"


def test_a_place_and_its_helper_arrive() -> None:
    place = Place("ring.py", 3, "ring", "send(x)", Helper("ring.py", 9, "send"))
    assert restricted_pickle.opened(pickle.dumps(place)) == place
