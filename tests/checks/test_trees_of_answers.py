"""Which answers have one form, and when a learner is told that theirs is the library's own."""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path

import pytest

from lockstep.checks import check, check_file, exercises, find
from lockstep.checks.borrowed import THE_REFERENCE, TOLD, is_reference, remark
from lockstep.checks.load import load
from lockstep.checks.syntax_trees import Form, form_of, form_of_library, form_of_text
from lockstep.collectives import ring, ring_all_reduce
from lockstep.cost import speedup
from lockstep.cpu import saxpy

TOTAL = """
def total(numbers):
    '''The sum.'''
    result = 0
    for n in numbers:  # one after the other
        result += n
    return result
"""


def form(text: str, name: str = "total") -> Form:
    found = form_of_text([(text, "mine")], name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "other",
    [
        "def total(a: list[float]) -> float:\n    b: float = 0\n    for c in a:\n        b += c\n    return b",
        "import os\n\ndef total(sum):\n    x=0\n    for i in sum: x += i\n    return (x)\n\nprint(total([1]))",
    ],
    ids=["names and annotations", "layout, and what else is in the file"],
)
def test_names_comments_annotations_and_layout_do_not_count(other):
    assert form(other) == form(TOTAL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+=", "-="),
        ("result = 0", "result = 1"),
        ("result += n", "result += result"),
        ("in numbers", "in list(numbers)"),
    ],
)
def test_what_it_does_counts(old, new):
    assert form(TOTAL.replace(old, new)).digest != form(TOTAL).digest


def test_what_is_imported_has_one_name_however_it_is_imported():
    call = "\n\ndef ask(group):\n    return {}(group)"
    spellings = {
        "import torch.distributed as dist": "dist.get_rank",
        "import torch.distributed as d": "d.get_rank",
        "import torch.distributed": "torch.distributed.get_rank",
        "from torch import distributed": "distributed.get_rank",
        "from torch.distributed import get_rank": "get_rank",
        "from torch.distributed import get_rank as who": "who",
    }
    forms = {form(head + call.format(name), "ask").digest for head, name in spellings.items()}
    assert len(forms) == 1
    assert form("import torch.distributed as dist" + call.format("dist.get_world_size"), "ask").digest not in forms


def test_functions_of_its_own_belong_to_it_and_others_do_not():
    helper = "def twice(x):\n    return x + x\n\ndef total(a):\n    return twice(sum(a))"
    assert form(helper) == form(helper.replace("twice", "double").replace("x", "y") + "\n\ndef other():\n    return 7")
    assert form(helper).main == form(helper.replace("x + x", "2 * x")).main
    assert form(helper).digest != form(helper.replace("x + x", "2 * x")).digest


def test_a_form_travels_as_plain_data():
    assert Form.from_json(form(TOTAL).to_json()) == form(TOTAL)


@pytest.mark.parametrize("text", ["total = sum", "class total:\n    pass", "def total(:", "def other():\n    pass"])
def test_what_is_no_plain_function_has_none(text):
    assert form_of_text([(text, "mine")], "total") is None


@pytest.mark.parametrize("strange", [sum, type("T", (), {"__call__": lambda self: 1})(), object(), int, lambda a: a])
def test_any_object_may_be_asked_for(strange):
    assert form_of(strange) is None


def test_a_function_in_memory_has_the_form_of_its_text(tmp_path):
    file = tmp_path / "ring.py"
    folder = Path(ring.__file__).parent
    texts = [(folder / name).read_text().partition("annotations\n")[2] for name in ("exchange.py", "ring.py")]
    file.write_text(
        "\n".join(line for text in texts for line in text.splitlines() if "collectives.exchange" not in line)
    )
    assert form_of(load(file, "ring_all_reduce")) == form_of_library(ring_all_reduce)


def test_a_name_of_its_own_is_its_own_though_something_imported_has_it_too():
    text = "import torch.distributed as dist\n\ndef total(a):\n    {0} = sum(a)\n    return {0}"
    assert form(text.format("dist")) == form(text.format("other"))


def copied(tmp_path: Path) -> Path:
    """The library's answer, as a learner might hand it in: with other names, and no word of why."""
    file = tmp_path / "mine.py"
    text = inspect.getsource(speedup).replace("deadline", "end").replace("rounding", "eps").replace("hours", "h")
    file.write_text(text)
    return file


def test_who_hands_in_the_librarys_answer_is_told_so_in_a_line_and_loses_nothing(tmp_path):
    score = check_file("why_parallel.workers_needed", copied(tmp_path), keep=False)
    assert (score.verdict, score.points, [f.misconception for f in score.findings]) == ("passed", 2, [THE_REFERENCE])
    assert score.text().startswith("why_parallel.workers_needed: Right. 2 of 2 points\n  - Names and comments aside")
    assert TOLD.partition(",")[0] in score._repr_mimebundle_()["text/html"]
    assert score.to_json()["findings"][0]["points"] == 0


def test_who_writes_another_right_answer_or_a_short_one_is_not_told(tmp_path):
    file = copied(tmp_path)
    file.write_text(file.read_text().replace("if h <= end", "if end >= h"))
    assert check_file("why_parallel.workers_needed", file, keep=False).findings == ()
    exercise = find("cpu.saxpy")
    file.write_text(inspect.getsource(saxpy))
    short = form_of(load(file, "saxpy"))
    assert short
    assert is_reference(exercise, short)
    assert remark(exercise, load(file, "saxpy")) == []


def test_in_a_notebook_it_is_told_as_well(monkeypatch, tmp_path):
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    space: dict = {"__name__": "cell"}
    file = copied(tmp_path)
    exec(compile(file.read_text(), str(file), "exec"), space)
    score = check("why_parallel.workers_needed", space["workers_needed"])
    assert [f.misconception for f in score.findings] == [THE_REFERENCE]


def test_what_was_given_to_be_mended_is_not_remarked_on():
    mended = next(e for e in exercises() if e.kind == "mend" and form_of_library(e.reference_function()))
    assert remark(mended, mended.reference_function()) == []


@pytest.mark.slow
def test_every_reference_has_a_form_and_no_other_right_answer_of_the_course_is_one():
    for exercise in exercises():
        assert form_of_library(exercise.reference_function()), exercise.id
        for file in exercise.right.glob("*.py"):
            found = form_of(load(file, exercise.function))
            assert found is None or not is_reference(exercise, found), file


@pytest.mark.slow
def test_right_answers_that_were_written_to_differ_have_forms_of_their_own():
    for exercise in exercises():
        files = exercise.right.glob("*.py")
        forms = [f.digest for f in (form_of(load(file, exercise.function)) for file in files) if f]
        assert not [one for one, other in itertools.combinations(forms, 2) if one == other], exercise.id
