"""The concept inventory: every choice is computed, and the analysis says what a class has learned and what it cannot
tell."""

from __future__ import annotations

import builtins
import math
from pathlib import Path
from random import Random

import numpy as np
import pytest
from inventory_values import RIGHT, VALUES, value

from lockstep import reports
from lockstep.checks.known import stated
from lockstep.checks.register import find
from lockstep.classroom import answer_table, gain
from lockstep.classroom.inventory import LETTERS, Question, questions, right
from lockstep.classroom.question_page import page
from lockstep.cli import main
from lockstep.errors import UsageError
from lockstep.grading.course import UNITS
from lockstep.reports.report import FORMS, QUESTIONS

EVERY = [question for form in FORMS for question in questions(form)]
NAMES = [f"{form}-{question.exercise}" for form in FORMS for question in questions(form)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("question", EVERY, ids=NAMES)
def test_each_choice_is_what_its_program_gives(question: Question) -> None:
    """The right one by the exercise's reference, each wrong one by a known wrong answer."""
    for choice in question.choices:
        says = choice.says.partition(" ")[0] if choice.says.endswith((" MB", " ms", "/s")) else choice.says
        assert says == value(question.exercise, choice.program, question.given), choice.program


@pytest.mark.parametrize("question", [q for q in EVERY if q.also], ids=lambda question: question.exercise)
def test_a_question_about_two_units_is_answered_by_the_programs_of_both(question: Question) -> None:
    """Twelve questions went through fourteen units, and none was about 01 or 07. Where one question is about two, the
    other unit's reference, and one of its known wrong answers at least, give the same choices."""
    exercise, programs = question.also
    says = {choice.program: choice.says.removesuffix(" GFLOP/s") for choice in question.choices}
    assert len(programs) >= 2
    assert programs[RIGHT] == RIGHT
    for own, other in programs.items():
        assert value(exercise, other, question.given) == says[own], other


@pytest.mark.parametrize("question", EVERY, ids=NAMES)
def test_each_wrong_choice_names_a_misconception_of_the_course(question: Question) -> None:
    assert question.exercise in VALUES
    assert [choice.program for choice in question.choices if choice.is_right] == [RIGHT]
    for choice in (choice for choice in question.choices if not choice.is_right):
        file = find(question.exercise).wrong / f"{choice.program}.py"
        assert stated(file).misconception == choice.misconception


def test_forms_are_parallel_and_go_through_the_course() -> None:
    before, after = (questions(form) for form in FORMS)
    assert len(before) == len(after) == QUESTIONS
    for one, other in zip(before, after, strict=True):
        assert (one.concept, one.units, one.exercise) == (other.concept, other.units, other.exercise)
        assert {c.misconception for c in one.choices} == {c.misconception for c in other.choices}
        assert one.text != other.text
        exercises = [one.exercise, *one.also[:1]] if one.also else [one.exercise]
        assert {name.partition(".")[0] for name in exercises} == {UNITS[unit].topic for unit in one.units}
    assert [question.units[0] for question in before] == sorted(question.units[0] for question in before)
    assert sorted(unit for question in before for unit in question.units) == list(range(len(UNITS)))


@pytest.mark.parametrize("form", FORMS)
def test_choices_differ_and_no_letter_is_always_right(form: str) -> None:
    for question in questions(form):
        assert len({choice.says for choice in question.choices}) == len(LETTERS)
    assert {question.right for question in questions(form)} == set(LETTERS)
    assert questions(form) == questions(form)


@pytest.mark.parametrize("form", FORMS)
def test_the_page_asks_all_and_does_not_tell_which_is_right(form: str) -> None:
    html, policy = page(form)
    assert html.count("<fieldset>") == QUESTIONS
    assert html.count('value="b"') == QUESTIONS
    for choice in (choice for question in questions(form) for choice in question.choices):
        assert not choice.misconception or f'"{choice.misconception}"' not in html
    assert "default-src 'none'" in policy


def rights(seed: int, learners: int, easy: float) -> list[list[bool]]:
    draw = Random(seed)
    able = [draw.uniform(-1, 1) for _ in range(learners)]
    return [[draw.random() < min(0.95, max(0.05, easy + a / 3)) for _ in range(QUESTIONS)] for a in able]


def test_gain_is_that_part_of_what_was_missing() -> None:
    """Hake 1998: from 40 % to 70 % is half of the 60 % that were missing."""
    assert gain.gain(0.4, 0.7) == pytest.approx(0.5)
    assert gain.gain(0.5, 0.25) == pytest.approx(-0.5)
    assert gain.gain(1.0, 1.0) is None


def test_reliability_and_discrimination_are_numpys() -> None:
    drawn = rights(1, 40, 0.5)
    scores = np.array(drawn, dtype=float)
    k = scores.shape[1]
    p = scores.mean(0)
    alpha = k / (k - 1) * (1 - scores.var(0).sum() / scores.sum(1).var())  # Cronbach's, which KR-20 is for 0 and 1
    assert gain.kr20(drawn) == pytest.approx(alpha)
    assert np.allclose(scores.var(0), p * (1 - p))
    for n in range(k):
        rest = np.delete(scores, n, axis=1).sum(1)
        assert gain.point_biserial(drawn, n) == pytest.approx(np.corrcoef(scores[:, n], rest)[0, 1])


def test_what_has_no_spread_has_no_reliability() -> None:
    same = [[True] * QUESTIONS] * 5
    assert gain.kr20(same) is None
    assert gain.kr20([]) is None
    assert gain.point_biserial(same, 0) is None
    assert gain.interval(same, same) is None


def test_the_interval_holds_the_gain_and_shrinks_with_the_class() -> None:
    widths = []
    for learners in (8, 200):
        before, after = rights(1, learners, 0.3), rights(2, learners, 0.6)
        low, high = gain.interval(before, after)
        assert low < gain.class_gain(before, after) < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 3


def test_persistent_are_those_who_choose_the_same_misconception_twice() -> None:
    """Letters are shuffled: the same misconception has different letters in the two forms."""

    def letter(form: str, question: int, misconception: str) -> str:
        asked = questions(form)[question]
        return next(x for x in LETTERS if asked.choice(x).misconception == misconception)

    before = [letter("before", 0, "linear") + "-" * 11] * 3
    after = [letter("after", 0, "linear") + "-" * 11] * 2 + [letter("after", 0, "gustafson") + "-" * 11]
    rows = gain.persistent(before, after)
    assert [(row.misconception, row.before, row.after, row.both) for row in rows] == [
        ("linear", 3, 2, 2), ("gustafson", 0, 1, 0)
    ]  # fmt: skip


def write(path: Path, answers: dict[str, str]) -> Path:
    answer_table.write(path, answers)
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    wrong = {form: "".join(next(x for x in LETTERS if x != q.right) for q in questions(form)) for form in FORMS}
    all_right = {form: "".join(q.right for q in questions(form)) for form in FORMS}
    before = {f"l{n}": wrong["before"] for n in range(8)} | {"gone": wrong["before"]}
    after = {f"l{n}": all_right["after"] if n < 4 else wrong["after"] for n in range(8)}
    return write(tmp_path / "before.csv", before), write(tmp_path / "after.csv", after)


def test_the_command_tells_a_small_class_what_it_cannot_know(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["board", "--inventory", *map(str, files)]) == 0
    said = capsys.readouterr().out
    assert "8 learners answered both times, 1 only before, 0 only after." in said
    assert "The class: 0% right before, 50% after." in said
    assert "Normalized gain 0.50, medium by Hake's limits" in said
    assert "± 35 points" in said
    assert "No r and no KR-20 below 10 learners" in said
    assert "Reliability (KR-20): – before, – after." in said
    assert said.count("  0.50") == QUESTIONS
    assert max(map(len, said.splitlines())) <= 120


def test_a_larger_class_has_correlations_and_their_chance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = {}
    for seed, form in enumerate(FORMS):
        drawn = rights(seed, 20, 0.3 + 0.3 * seed)
        told[form] = {
            f"l{n}": "".join(q.right if ok else "-" for q, ok in zip(questions(form), row, strict=True))
            for n, row in enumerate(drawn)
        }
        assert [right(form, told[form][f"l{n}"]) for n in range(20)] == drawn
    paths = [write(tmp_path / f"{form}.csv", told[form]) for form in FORMS]
    assert main(["board", "--inventory", *map(str, paths)]) == 0
    said = capsys.readouterr().out
    assert f"an r of up to ± {1.96 / math.sqrt(19):.2f} by chance" in said
    assert "No wrong choice was made." in said
    assert "KR-20): –" not in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "does not begin with"),
        ("learner,1\n", "does not begin with"),
        (",".join(answer_table.HEAD) + "\nada,a,b\n", "line 2: this is not a learner and 12 letters"),
        (",".join(answer_table.HEAD) + "\nada" + ",e" * 12 + "\n", "line 2"),
        (",".join(answer_table.HEAD) + ("\nada" + ",a" * 12) * 2 + "\n", "line 3: ada stands there twice"),
        (",".join(answer_table.HEAD) + "\nada" + ",a" * 12 + "\n", "Nobody stands in both"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence(
    text: str, told: str, files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    assert main(["board", "--inventory", str(tmp_path / "bad.csv"), str(files[1])]) == 2
    assert told in capsys.readouterr().err


def test_a_table_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    """With a byte order mark, spaces, capital letters, empty cells and an empty line."""
    path = tmp_path / "sheet.csv"
    path.write_text("\ufeff" + ",".join(answer_table.HEAD) + "\r\nada, A ,b" + "," * 10 + "\r\n\r\n", encoding="utf-8")
    assert answer_table.read(path) == {"ada": "ab" + "-" * 10}


def test_in_a_terminal_one_answers_into_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    path = tmp_path / "before.csv"
    answer_table.write(path, {"ada": "a" * 12})
    typed = iter(["ada", "x,y", "grace", "z", "B", *[""] * 11])
    monkeypatch.setattr(builtins, "input", lambda asked: next(typed))
    assert main(["board", "--answer", "before", "--to", str(path)]) == 0
    assert answer_table.read(path) == {"ada": "a" * 12, "grace": "b" + "-" * 11}
    said = capsys.readouterr().out
    assert "It is taken, or empty." in said
    assert "Without a comma, please." in said


def test_where_nobody_can_type_it_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody(asked: str) -> str:
        raise EOFError

    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    monkeypatch.setattr(builtins, "input", nobody)
    reports.join("http://127.0.0.1:1/?token=a")
    assert main(["board", "--answer", "before"]) == 2
    assert "Use a terminal" in capsys.readouterr().err


def test_an_export_cannot_be_written_where_a_file_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        answer_table.write(tmp_path / "no" / "before.csv", {})
