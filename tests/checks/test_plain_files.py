"""What a teacher's file says, what is made of its text, and what is told where something is wrong with it: one
sentence, with its line."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from lockstep.checks.likeness import difference
from lockstep.checks.own_courses import courses, file_of, is_course, topic_of
from lockstep.checks.plain import Other
from lockstep.checks.plain_checks import replayed
from lockstep.checks.plain_exercise import exercise_of
from lockstep.checks.plain_file import PlainFile, in_order, parsed, read
from lockstep.checks.plain_text import answer, given_imports, without_answers
from lockstep.checks.register import find
from lockstep.checks.returned import FORGED, as_data, value_of
from lockstep.checks.transport import decoded, encoded
from lockstep.errors import UsageError

DOUBLE = '"""Double\n\nTwice x."""\n\n\ndef double(x):\n    """Twice."""\n    return 2 * x\n\n\n'
CASES = "cases = [(1, 2)]\n"


def written(tmp_path: Path, text: str, name: str = "double") -> PlainFile:
    folder = tmp_path / "course" / "01_twice"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(text)
    return read(folder / f"{name}.py", "twice")


def test_ten_lines_are_enough(tmp_path: Path) -> None:
    file = written(tmp_path, DOUBLE + CASES)
    assert len((DOUBLE + CASES).splitlines()) <= 12
    assert (file.id, file.title, file.about) == ("twice.double", "Double", "Twice x.")
    assert (file.points, file.minutes, file.core, file.ranks) == (2, 10, True, None)
    assert [(one.arguments, one.wanted, one.told, one.line) for one in file.cases] == [((1,), 2, "case 1", 11)]


WRONG = {
    "no Python": ("def double(x:\n    return 1\n", 1, "this is no Python: '(' was never closed."),
    "no text": (DOUBLE.partition("\n\n\n")[2] + CASES, 1, "the text is missing. Begin the file with a docstring"),
    "another name": (DOUBLE.replace("def double", "def twice") + CASES, 1,
                     "there is no function double here, but twice. The function is named as the file."),
    "a body in the line of its def": ('"""Double"""\n\ndef double(x): return 2 * x\n' + CASES, 3,
                                      "the solution stands in the line of its def."),
    "no body": ('"""Double"""\n\n\ndef double(x):\n    """Twice."""\n' + CASES, 4, "double has no body."),
    "a star": (DOUBLE.replace("(x)", "(*x)") + CASES, 6, "a learner should see which arguments come."),
    "nothing tried": (DOUBLE, 6, "nothing tries double. Write `cases`, a list of (arguments, expected)."),
    "no list": (DOUBLE + "cases = {1: 2}\n", 11, "`cases` is a dict. Write a list of (arguments, expected)."),
    "no pair": (DOUBLE + "cases = [\n    (1, 2),\n    (1, 2, 3),\n]\n", 13, "case 2 is no (arguments, expected)."),
    "too many arguments": (DOUBLE + "cases = [((1, 2), 3)]\n", 11,
                           "case 1 gives 2 arguments, and double(x) takes another number. Put a tuple that is the"),
    "cases that a line makes": (DOUBLE + "cases = [((n, n), 2) for n in (1, 2)]\n", 11,
                                "case 1 gives 2 arguments, and double(x) takes another number. Several arguments"),
    "no comparable result": (DOUBLE + "cases = [(1, map)]\n", 11, "nobody can compare an answer with a type."),
    "an assert that is silent": (DOUBLE + "def check_it(answer):\n    assert answer(2) == 4\n", 12,
                                 'this assert says nothing. Add a sentence: assert answer(2) == 4, "What is wrong'),
    "no assert": (DOUBLE + "def check_it(answer):\n    answer(2)\n", 11, "check_it has no assert."),
    "two arguments of a check": (DOUBLE + "def check_it(answer, x):\n    assert answer(2), 'a'\n", 11,
                                 "check_it takes one argument, the learner's function."),
    "a check that calls nothing": (DOUBLE + "def check_it(answer):\n    assert True, 'a'\n", 11,
                                   "check_it never calls answer, the learner's function."),
    "a check on ranks": (DOUBLE + "ranks = 2\ndef check_it(answer):\n    assert answer(2) == 4, 'a'\n", 12,
                         "check_it and `ranks` do not go together. On ranks, write cases."),
    "a wrong answer without a word": (DOUBLE + CASES + "def wrong_one(x):\n    return x\n", 12,
                                      "wrong_one has no docstring. It is what the author of such an answer is told."),
    "points that are none": (DOUBLE + CASES + "points = 0\n", 12, "`points` is 0. It should be a whole number from 1"),
    "two hints": (DOUBLE + CASES + 'hints = ["a", "b"]\n', 12, "`hints` has 2 texts, not 3. It is a list of three"),
    "a long hint": (DOUBLE + CASES + f"hints = {'word ' * 20!r}\n", 12,
                    "`hints` is 'word word word word word word word wor…. It should be a list of three texts"),
    "many ranks": (DOUBLE + CASES + "ranks = 1000\n", 12, "`ranks` is 1000. It should be a whole number from 1 to 64"),
    "an end that is mistyped": (DOUBLE + CASES + "### BEGIN HIDDEN TESTS\ncases += CASES\n### END HIDDEN TEST\n", 14,
                                "`### END HIDDEN TEST` is no mark. Did you mean `### END HIDDEN TESTS`?"),
    "a mark in small letters": (DOUBLE + CASES + "### begin hidden tests\n### END HIDDEN TESTS\n", 12,
                                "`### begin hidden tests` is no mark. Did you mean `### BEGIN HIDDEN TESTS`?"),
    "a mark of nobody's": (DOUBLE + CASES + "### BEGIN MARK SCHEME\n", 12, "`### BEGIN MARK SCHEME` is no mark. There "
                           "are `### BEGIN SOLUTION` and `### BEGIN HIDDEN TESTS`, each with its END."),
    "a mark without its end": (DOUBLE + CASES + "### BEGIN HIDDEN TESTS\ncases += [(2, 4)]\n", 12,
                               "`### BEGIN HIDDEN TESTS` has no `### END HIDDEN TESTS` below it."),
    "an end without its mark": (DOUBLE + CASES + "### END HIDDEN TESTS\n", 12,
                                "`### END HIDDEN TESTS` has no `### BEGIN HIDDEN TESTS` above it."),
    "a mark where an end should be": (DOUBLE + CASES + "### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS\n", 13,
                                      "`### BEGIN HIDDEN TESTS` stands where `### END HIDDEN TESTS` should, for line"),
    "a solution outside of functions": (DOUBLE + CASES + "### BEGIN SOLUTION\n### END SOLUTION\n", 12,
                                        "`### BEGIN SOLUTION` stands outside of a function. Indent it as the lines"),
    "hint": (DOUBLE + CASES + 'hint = ["a", "b", "c"]\n', 12, "nothing uses `hint`. Did you mean `hints`?"),
    "point": (DOUBLE + CASES + "point = 3\n", 12, "nothing uses `point`. Did you mean `points`?"),
    "case": (DOUBLE + CASES.replace("cases", "case"), 11, "nothing uses `case`. Did you mean `cases`?"),
    "chek_": (DOUBLE + CASES + "def chek_it(answer):\n    assert answer(1), 'a'\n", 12,
              "nothing uses `chek_it`. Did you mean `check_it`?"),
    "arguments of a wrong answer": (DOUBLE + CASES + 'def wrong_one(x, y):\n    """No."""\n    return x\n', 12,
                                    "wrong_one takes (x, y), and double takes (x). Both are called with the same"),
    "a wrong answer without a default": (
        DOUBLE.replace("(x)", "(x, n=2)") + CASES + 'def wrong_one(x, n):\n    """No."""\n    return x\n', 12,
        "wrong_one takes (x, n), and double takes (x, n=2)."),
    "no tuple": (DOUBLE.replace("(x)", "(x, n)") + "cases = [(1, 2, [5, 4])]\n", 11, "case 1 is no (arguments, expected"
                 "). Put several arguments in a tuple: ((1, 2), [5, 4])."),
    "no tuple, and a text": (DOUBLE.replace("(x)", "(x, n)") + 'cases = [(1, 2, ValueError, "odd")]\n', 11,
                             "case 1 is no (arguments, expected). Put several arguments in a tuple: "
                             "((1, 2), ValueError, 'odd')."),
    "no tuple, and text is expected": (
        DOUBLE.replace("(x)", "(x, n)") + 'cases = [(1, 2, "12")]\n', 11, "case 1 gives 1 argument, and double(x, n) "
        "takes another number. Put several arguments in a tuple: ((1, 2), '12')."),
    "a tuple alone": (DOUBLE + "cases = [((1, 2), (1, 2, 1, 2))]\n", 11, "case 1 gives 2 arguments, and double(x) "
                      "takes another number. Put a tuple that is the only argument in a tuple: "
                      "(((1, 2),), (1, 2, 1, 2))."),
    "no such parameter": (DOUBLE + CASES + 'may_change = ["y"]\n', 12, "double has no parameter 'y'."),
    "a file that fails": (DOUBLE + "cases = [(1, 2 / 0)]\n", 11,
                          "the file cannot be run: ZeroDivisionError: division by zero."),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_sentence_with_its_line(tmp_path: Path, name: str) -> None:
    text, line, told = WRONG[name]
    with pytest.raises(UsageError) as error:
        exercise_of(written(tmp_path, text))
    assert str(error.value).replace("\n", " ").startswith(f"double.py, line {line}: {told}"), str(error.value)


def test_names_and_comments_that_are_nearly_lockstep_s_own(tmp_path: Path) -> None:
    """A constant that only the solution uses: learners' copies, from which that is cut, are as good."""
    text = DOUBLE.replace("    return 2 * x", "    # the solution\n    return point * x\n    # hidden tests") + CASES
    names = "point = 2\nchecks = {1}\nfor case in [3]:\n    pass\n\n\ndef double"
    file = written(tmp_path, text.replace("def double", names))
    assert "point * x" not in without_answers(file)
    copy = parsed(without_answers(file), file.path, "twice", "double", handed_out=True)
    assert [one.wanted for one in copy.cases] == [2]


def test_a_solution_in_a_function_that_is_given_is_cut_out_as_well(tmp_path: Path) -> None:
    part = "def half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION\n\n\n"
    text = without_answers(written(tmp_path, DOUBLE.replace("def double", f"{part}def double") + CASES))
    assert "x / 2" not in text
    assert "2 * x" not in text


def test_a_name_that_no_cell_could_have(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Double\.py, line 1: Double is no name for an exercise"):
        written(tmp_path, DOUBLE.replace("def double", "def Double") + CASES, "Double")


def test_core_exercises_come_first_then_numbers_then_names(tmp_path: Path) -> None:
    files = [
        written(tmp_path, DOUBLE.replace("double", name) + CASES + more, name)
        for name, more in {"a": "core = False\n", "b": "", "c": "number = -1\n"}.items()
    ]
    assert [file.function for file in in_order(files)] == ["c", "b", "a"]


# ---- texts

HELPED = '''"""Double

Twice x.
"""

import math

LIMIT = math.inf


def shown(x):
    return x < LIMIT


@staticmethod
def double(x):
    """Twice."""
    # the trick is a product
    y = 2 * x

    return y if shown(x) else x  # at last
    # done


def check_it(answer):
    assert answer(2) == 4, "Not 4."
    ### BEGIN HIDDEN TESTS
    assert answer(3) == 6, "Not 6."
    ### END HIDDEN TESTS
'''


def test_the_answer_cell_has_what_is_given_and_the_solution_between_marks(tmp_path: Path) -> None:
    cell = answer(written(tmp_path, HELPED.replace("@staticmethod\n", "")))
    assert cell == (
        "LIMIT = math.inf\n\n\ndef shown(x):\n    return x < LIMIT\n\n\n"
        'def double(x):\n    """Twice."""\n    ### BEGIN SOLUTION\n    # the trick is a product\n    y = 2 * x\n\n'
        "    return y if shown(x) else x  # at last\n    # done\n    ### END SOLUTION"
    )


def test_what_is_handed_out_has_neither_solution_nor_hidden_tests(tmp_path: Path) -> None:
    file = written(tmp_path, HELPED)
    text = without_answers(file)
    assert not [word for word in ("trick", "2 * x", "at last", "done", "HIDDEN", "answer(3)") if word in text]
    assert '@staticmethod\ndef double(x):\n    """Twice."""\n    raise NotImplementedError()\n\n\ndef check_it' in text
    assert given_imports(file) == "import math"


def test_marks_leave_a_part_of_the_body_to_the_learner(tmp_path: Path) -> None:
    marked = DOUBLE.replace("    return 2 * x", "    y = (\n        ### BEGIN SOLUTION\n        2 * x\n"
                            "        ### END SOLUTION\n    )\n    return y")  # fmt: skip
    file = written(tmp_path, marked + CASES)
    assert "2 * x" not in without_answers(file)
    assert "    y = (\n        raise NotImplementedError()\n    )\n    return y" in without_answers(file)
    assert answer(file).count("### BEGIN SOLUTION") == 1


# ---- where they are


def test_a_course_begins_with_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "course" / "01_twice").mkdir(parents=True)
    (tmp_path / "course" / "01_twice" / "plot.py").write_text("def other():\n    pass\n")
    assert not is_course(tmp_path), "any folder with programs in it would be one"
    written(tmp_path, DOUBLE + CASES)
    (tmp_path / "course" / "01_twice" / "plot.py").unlink()
    assert next(courses()) == tmp_path
    assert file_of("twice", "double") == tmp_path / "course" / "01_twice" / "double.py"
    assert find("twice.double").title == "Double"
    assert topic_of(tmp_path / "a-b" / "x.py") == "a_b"


# ---- likeness

NAN = float("nan")
EQUAL: list[tuple[Any, Any]] = [
    (0.1 + 0.2, 0.3), (1e-17, 0.0), (2, 2.0), (numpy.float32(0.5), 0.5), (NAN, NAN), (True, True), (None, None),
    ((1, 2), [1, 2]), (numpy.array([1.0, 2.0]), [1.0, 2.0]), (torch.tensor([[1, 2]]), [[1, 2]]), (range(3), [0, 1, 2]),
    ({"a": [1, {2}]}, {"a": (1, {2})}), ({1, 2}, frozenset({2, 1})), ("text", "text"), (10**30, 10**30), (3j, 3j),
    (torch.tensor([0.1]), torch.tensor([0.1], dtype=torch.float64)), (torch.tensor(2.5), 2.5),
    (numpy.ones((2, 2), dtype=numpy.float32), numpy.ones((2, 2))), (Fraction(1, 4), 0.25),
    (torch.tensor([1e-7, 1.0]), torch.tensor([0.0, 1.0])), ([], []), (torch.zeros(0), torch.zeros(0)),
]  # fmt: skip
DIFFERENT: list[tuple[Any, Any, str, str]] = [
    (0.3001, 0.3, "wrong-values", ""), (10**30, 10**30 + 1, "wrong-values", ""), (True, 1, "wrong-type", ""),
    (1, True, "wrong-type", ""), ("1", 1, "wrong-type", ""), (None, 1.0, "wrong-type", ""),
    (NAN, 1.0, "wrong-values", ""),
    ([1, 2], [1, 3], "wrong-values", "[1]"), ([1, 2], [1], "wrong-shape", ""), (5, [5], "wrong-type", ""),
    ({"a": [1, 2]}, {"a": [1, 4]}, "wrong-values", "['a'][1]"), ({"a": 1}, {"b": 1}, "wrong-shape", ""),
    ([1], {1}, "wrong-type", ""), (torch.ones(2), torch.ones(3), "wrong-shape", ""),
    ([1.0], torch.ones(1), "wrong-type", ""),
    (torch.ones(1, dtype=torch.int64), torch.ones(1), "wrong-type", ""), (iter([1]), [1], "wrong-type", ""),
    (torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 3.0]]), "wrong-values", "[0, 1]"), (object(), 1, "wrong-type", ""),
    (torch.tensor([NAN]), torch.tensor([0.0]), "wrong-values", "[0]"), (math.inf, 1e300, "wrong-values", ""),
]  # fmt: skip


def through(value: Any) -> Any:
    """As it comes to the judge."""
    return value_of(decoded(encoded(as_data(value))))


def told(value: object) -> str:
    """For a name of a test, without an address: every worker of pytest-xdist must find the same names."""
    return f"{re.sub(' at 0x[0-9a-f]+', '', repr(value)):.30}"


@pytest.mark.parametrize(("held", "wanted"), EQUAL, ids=told)
def test_alike(held: Any, wanted: Any) -> None:
    assert difference(through(held), through(wanted)) is None


@pytest.mark.parametrize(("held", "wanted", "kind", "path"), DIFFERENT, ids=told)
def test_not_alike(held: Any, wanted: Any, kind: str, path: str) -> None:
    found = difference(through(held), through(wanted))
    assert found is not None
    assert (found.kind, found.path) == (kind, path)


def test_a_check_can_insist_on_a_list() -> None:
    assert isinstance(through([1, 2]), list)
    assert isinstance(through((1, 2)), tuple)


def test_a_number_out_of_a_float32_tensor_has_seven_digits() -> None:
    """CONTRIBUTING said "Rounding is forgiven", and an author's own solution was told: gives 0.428571433; it is
    0.428571429."""
    number = torch.tensor(3 / 7).item()
    assert difference(torch.tensor([number]), torch.tensor([3 / 7], dtype=torch.float64)) is None
    assert difference(number, 3 / 7) is not None
    assert difference(number, 3 / 7, tolerance=1e-5) is None


def test_a_tolerance_is_for_all_numbers() -> None:
    assert difference([1.01, torch.tensor([5.02])], [1.0, torch.tensor([5.0])], tolerance=0.02) is None
    assert difference(1.03, 1.0, tolerance=0.02) is not None


@pytest.mark.parametrize(
    "forged", [{"dict": [[[1], 2]]}, {"set": [[1]]}, {"tuple": 1}, {"a": 1, "b": 2}, {}, {"array": 1}]
)
def test_what_is_no_data_is_a_wrong_value_and_no_error(forged: Any) -> None:
    assert difference(value_of(forged), [1]) is not None
    assert value_of({"no": "kind"}) == FORGED


def test_a_value_that_holds_itself_or_is_huge_comes_to_an_end() -> None:
    own: list[Any] = []
    own.append(own)
    assert isinstance(as_data(list(range(200_000)))[-1], Other)
    assert as_data(own)


# ---- checks


def test_a_check_is_replayed_until_all_its_calls_are_known() -> None:
    def check(answer: Any) -> None:
        assert answer(answer(3)) == 12, "Twice twice."

    def bound(x: int) -> tuple[Any, ...]:
        return (x,)

    first = replayed(check, bound, [], 0)
    assert (first.calls, first.done) == (((3,),), False)
    assert replayed(check, bound, [6], 0).calls == ((3,), (6,))
    assert replayed(check, bound, [6, 12], 0).done
    assert replayed(check, bound, [6, 13], 0).failed.startswith("Twice twice.")
    assert replayed(check, bound, [Other("generator")], 0).unusable
    assert "TypeError" in replayed(lambda answer: answer(1) + None, bound, [1], 0).failed
