"""Lessons that let the learner act: how a source is parted, and what the build refuses, in one sentence each."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from lockstep.errors import UsageError
from lockstep.grading.build import BuildError, build, build_complete
from lockstep.grading.hints import nested
from lockstep.grading.lesson_counts import filled, operations, pattern_problems, sections, words
from lockstep.grading.lesson_counts import minutes as minutes_of
from lockstep.grading.lesson_rules import made, taken, topic_problems
from lockstep.grading.text_notebook import parse
from lockstep.lessons.behind import parse as behind_of

COURSE = Path(__file__).parents[2] / "course"
SOURCE = Path(__file__).parents[1] / "lessons/course/90_acting/lesson.py"
TEXT = SOURCE.read_text()
BUILT, BEHIND = "course/90_acting/lesson.ipynb", "pkg/lockstep/lessons/acting.json"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The sample's source, not built."""
    (tmp_path / "course/90_acting").mkdir(parents=True)
    shutil.copy(SOURCE, tmp_path / "course/90_acting")
    return tmp_path


def cells_of(path: Path) -> list:
    return nbformat.read(path, as_version=4).cells


def test_a_lesson_begins_before_its_imports(course: Path) -> None:
    """The call came last, and a figure below the imports was not drawn: it was no longer its result. Then it stood
    behind the imports, which take some ten seconds on a busy machine, and the cell was silent as long."""
    lesson = course / "course/90_acting/lesson.py"
    begun = "from lockstep import predict, quiz, reconcile, your_turn\n"
    lesson.write_text(TEXT.replace(begun, f"{begun}\nshow.ring(3)\n", 1))
    build(course)
    seen = cells_of(course / BUILT)[1].source
    assert seen.startswith('from lockstep import lessons\n\nlessons.begin("acting")\n\n')
    assert seen.endswith("\n\nshow.ring(3)")


def test_a_picture_that_nothing_draws_is_named(course: Path) -> None:
    lesson = course / "course/90_acting/lesson.py"
    lesson.write_text(TEXT.replace("# # Acting, as a sample\n", "# # Acting, as a sample\n#\n# ![](opening.svg)\n", 1))
    with pytest.raises(BuildError, match=r"course/90_acting/lesson.py:1: lockstep.show.openings draws nothing for it"):
        build(course)


def test_one_source_makes_what_is_seen_and_what_is_behind(course: Path) -> None:
    assert build(course) == [BUILT, BEHIND]
    assert build(course, check=True) == []
    seen = [c.source for c in cells_of(course / BUILT)]
    assert '%%after star-over-tree.reason\nlessons.told("star-over-tree.reason-1")' in seen
    assert '%%after star-over-tree\nlessons.told("star-over-tree-1")' in seen
    stub = (
        '    """One rank has the tensor. How many rounds until K ranks have it?"""\n    ...\n\n\nyour_turn(tree_rounds)'
    )
    assert f"def tree_rounds(K):\n{stub}" in seen
    assert seen[1].startswith('from lockstep import lessons\n\nlessons.begin("acting")')
    asked = next(s for s in seen if s.startswith('quiz(\n    "messages"'))
    assert asked == (
        'quiz(\n    "messages",\n    "6 ranks. How many messages does the tree send in all?",\n    unit="messages",\n)'
    )
    behind = behind_of((course / BEHIND).read_text())
    assert behind.quizzes["messages"].wrong == (
        (3, "That is the number of rounds."),
        (6, "The root has the tensor already."),
    )
    assert behind.order == [c.id for c in cells_of(course / BUILT) if c.source.startswith("%%after")]
    assert len(behind.order) == 6


def test_no_sentence_behind_is_in_the_notebook(course: Path) -> None:
    build(course)
    seen = json.dumps(cells_of(course / BUILT), ensure_ascii=False)
    sentences = behind_of((course / BEHIND).read_text()).sentences()
    assert len(sentences) > 8
    assert [s for s in sentences if json.dumps(s, ensure_ascii=False)[1:-1] in seen] == []


def test_what_is_folded(course: Path) -> None:
    build(course)
    folded = [
        c.source.splitlines()[0] for c in cells_of(course / BUILT) if c.metadata.get("jupyter", {}).get("source_hidden")
    ]
    assert len(folded) == 8
    assert 'print("the end")' in folded
    assert not any(
        "ratio" in c.source for c in cells_of(course / BUILT) if "jupyter" in c.metadata and "63" in c.source
    )


def test_a_changed_answer_is_noticed_by_check(course: Path) -> None:
    """What is behind is built, too: an old answer would be told for a new question."""
    build(course)
    source = course / "course/90_acting/lesson.py"
    source.write_text(TEXT.replace("answer=5", "answer=5.0, within=0.02"))
    assert build(course, check=True) == [BEHIND]


def test_the_complete_lesson_has_everything_in_its_place(course: Path, tmp_path: Path) -> None:
    assert build_complete(course, tmp_path / "open") == ["90_acting/lesson.ipynb"]
    seen = [c.source for c in cells_of(tmp_path / "open/90_acting/lesson.ipynb")]
    assert "**Our reason.** The star takes 63 rounds and the tree takes 6." in seen
    assert any("return (K - 1).bit_length()" in s and "SOLUTION" not in s for s in seen)
    assert any("The answer is 5 messages." in s for s in seen)
    assert not any("%%after" in s or "cases =" in s for s in seen)
    with pytest.raises(UsageError, match="belongs to the course"):
        build_complete(course, course / "course")


def test_names_of_more_are_those_of_the_lesson(course: Path) -> None:
    more = course / "course/90_acting/more.py"
    more.write_text(
        '# %%\n1\n\n# %% [markdown] lesson="after star-over-tree"\n# One thing more, for whoever is not tired yet.\n'
    )
    assert build(course) == [BUILT, "course/90_acting/more.ipynb", BEHIND]
    assert "star-over-tree-2" in behind_of((course / BEHIND).read_text()).told
    more.write_text(more.read_text() + '\n# %% lesson="predict star-over-tree"\npredict("star-over-tree", "?")\n')
    with pytest.raises(BuildError, match=r"more\.py:7: .*there is a predict 'star-over-tree' above"):
        build(course)


PREDICT = 'lesson="predict star-over-tree"'
TURN = 'lesson="turn tree_rounds"'
MISTAKES = {
    "a held name": ('lesson="after tree_rounds"\nprint("rounds', '\nprint(ratio)\nprint("rounds',
                    "uses ratio, which waits for 'star-over-tree': tag it lesson=\"after star-over-tree\" too"),
    "the turn's own name": ('lesson="after tree_rounds"\nprint("rounds', '\nprint("rounds',
                            "uses tree_rounds, which waits for 'tree_rounds'"),
    "another gate": ('lesson="after tree_rounds"\nprint("rounds',
                     'lesson="after tree_rounds"\nprint(ratio)\nprint("rounds',
                     "uses ratio, which waits for 'star-over-tree'"),
    "a name twice": ("which", "messages", "there is a quiz 'messages' above; a name stands once in a topic"),
    "no reason": ('lesson="reason star-over-tree"', "", "it has no reason: answer it in a Markdown cell"),
    "no reconcile": ('reconcile("star-over-tree", simulated=ratio)', "ratio", "nothing answers it: call reconcile"),
    "no behind": ('lesson="behind tree_rounds"', "", 'it needs one cell with lesson="behind tree_rounds"'),
    "no turn": (TURN, "", "a lesson has no solution but in a cell with lesson=\"turn NAME\""),
    "waits for nothing": ('lesson="after tree_rounds"\nprint("rounds', 'lesson="after tree-rounds"\nprint("rounds',
                          "it waits for 'tree-rounds', and no prediction or turn above has that name"),
    "an unknown mark": ('lesson="fold"', 'lesson="hide"', 'a mark reads lesson="KIND NAME" or lesson="fold"'),
    "quiz: the answer is wrong": ("wrong={3:", "wrong={5.01: 'x', 3:",
                     "its answer 5 counts as one of its wrong ones, too"),
    "quiz: two wrong ones": ("wrong={3:", "wrong={3.001: 'x', 3:", "two of its wrong answers count as the same"),
    "quiz: no sentence": ('choices=["star", "tree"]', 'choices=["star", "tree", "ring"]',
                          "its choices are its answer and its wrong answers, each with a sentence, and nothing else"),
    "quiz: no because": ('because="All of its messages leave rank 0.",', "",
                     "it is one call with literal arguments: quiz("),
    "quiz: computed": ("answer=5", "answer=2 + 3", "it is one call with literal arguments: quiz("),
    "predict: computed": ('"64 ranks. How', '"64" + "ranks. How', "it is one call with literal text: predict("),
    "wrong is right": ("lambda K: K - 1:", "lambda K: math.ceil(math.log2(K)):", "is right in all cases; add a case"),
    "two wrong are one": ("lambda K: K - 1:", "lambda K: len(bin(K)) - 2:",
                     "give the same in all cases; add one that parts"),
    "few cases": ("(1, 2, 3, 4, 5, 6, 8, 9, 64, 1000)", "(1, 3, 4, 5, 64)", "it has 5 cases; give it 8 at least"),
    "a wrong solution": ("return (K - 1).bit_length()", "return (K - 1) / 0",
                     "the solution fails: tree_rounds(K=1000): Zero"),
    "four lines": ("    return (K - 1).bit", "    a = 1\n    a = 1\n    a = 1\n    return (K - 1).bit",
                   "the learner writes one to 3 lines, not 4"),
    "cases fail": ("cases = [", "cases = [oops] + [", "what is behind it fails: NameError: name 'oops' is not defined"),
    "not Python": ("ratio = 63 / 6", "ratio = 63 /", "it is not Python"),
    "imports wait": ("# %%\nfrom lockstep", '# %% lesson="fold"\nfrom lockstep', "it is the first code cell"),
    "a magic": ("ratio = 63 / 6", "%%time\nratio = 63 / 6", "a cell that waits cannot begin with a cell magic"),
    "Markdown": ('# %% [markdown] lesson="reason', '# %% lesson="reason', "a reason is Markdown, not code"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_with_file_and_line(mistake: str) -> None:
    right, wrong, expected = MISTAKES[mistake]
    text = TEXT.replace(right, wrong).replace("cases = [", "import math\n\ncases = [", mistake == "wrong is right")
    assert text != TEXT
    found = [str(p) for p in topic_problems("course/90_acting", {"lesson": parse(text)})]
    assert any(expected in p for p in found), found
    assert all(re.match(r"course/90_acting/lesson\.py:\d+: ", p) and "\n" not in p for p in found)


def test_a_sentence_that_waits_may_stand_nowhere_else(course: Path) -> None:
    told = "That is the star. In the tree, several ranks send in the same round."
    (course / "course/90_acting/lesson.py").write_text(TEXT.replace("# One cell of each kind.", f"# {told}"))
    with pytest.raises(BuildError, match=r"lesson\.py:1: it tells what should wait: “That is the star"):
        build(course)


def test_a_name_that_a_free_cell_makes_too_waits_for_nothing() -> None:
    """Bound above, or bound anew below: such a name is there whatever is open."""
    above = TEXT.replace("your_turn\n", "your_turn\n\nratio = 0\n").replace('print("the end")', "print(ratio)")
    below = TEXT.replace('print("the end")', "ratio = 0\n\n# %%\nprint(ratio)")
    for text in (above, below):
        assert text != TEXT
        assert list(topic_problems("x", {"lesson": parse(text)})) == []


def test_names_that_cells_make_and_take() -> None:
    cell = "%matplotlib inline\nimport os\nfor i in range(n):\n    x = [y * k for y in i]\n\n"
    cell += "def f(a):\n    return a + g + x\n"
    assert made(cell) == {"os", "i", "x", "f"}
    assert taken(cell) >= {"n", "k", "g"}
    assert not taken(cell) & {"a", "x", "os", "y"}


PATTERN = """\
# %% [markdown]
# ## 6. A title · {minutes} minutes · short path
#
# {prose}

# %%
{code}

# %% [markdown]
# ## Wrap-up
#
# You can now say it.
"""


def pattern(words: int = 80, lines: int = 10, text: str = "x = 1") -> list[str]:
    source = PATTERN.format(minutes="{minutes}", prose="word " * words, code="\n".join([text] * lines))
    return [str(p) for p in pattern_problems("lesson.py", parse(source))]


def test_minutes_are_words_and_lines_and_what_is_done() -> None:
    source = PATTERN.format(minutes="{minutes}", prose="word " * 173, code="x = 1\n" * 10)
    first, last = sections(parse(source))
    assert (first.title, first.timed, round(first.computed, 2)) == ("6. A title", True, 180 / 180 + 10 / 5)
    assert (last.title, last.timed) == ("Wrap-up", False)
    acts = "# %% [markdown]\n# ## 1. A · {minutes} minutes\n\n" + TEXT
    (only,) = sections(parse(acts))
    done = 2 + 1 + 2 * 1
    assert done + 2 < only.computed < done + 5


@pytest.mark.parametrize(
    ("code", "minutes"),
    [("show.board(3, 3, 2)", 10), ("show.ring(ranks=4)", 1), ("show.plan()", 4), ("show.planes()", 1),
     ("result.show()", 1), ("dtypes_table()", 0.7),
     ("trainings.methods_table(3)", 0.7), ("print(inspect.getsource(ring))", 3), ("show.progress(range(3))", 0),
     ("display(one.show(), two.show())", 2), ("def my_table(): ...", 0), ("suitable = 3", 0)],
)  # fmt: skip
def test_what_a_cell_shows_takes_time_as_well(code: str, minutes: float) -> None:
    """A reader took 70 minutes for lesson 09, which told 55: its board, tables and figures were free."""
    (cell,) = parse(f"# %%\n{code}\n")
    assert minutes_of(cell) == pytest.approx(minutes + 1 / 5)
    (folded,) = parse(f'# %% lesson="fold"\n{code}\n')
    assert minutes_of(folded) == pytest.approx(minutes)


@pytest.mark.parametrize(
    ("text", "number"),
    [("12 · h² / (32 · T) numbers", 3), ("That is 7/8 of 16", 1), ("(p − 1)/m, so 8² − 7² to 1²", 2), ("K = 3", 1),
     ("a train/test split", 0), ("forward and/or backward", 0), ("`a + b` and [c](d/3/4)", 0), ("| 3 + 4 | 5 |", 0),
     ("## 6. A title · 3 minutes", 0)],
)  # fmt: skip
def test_a_sum_in_the_text_is_worked_out(text: str, number: int) -> None:
    """A reader took 75 minutes for lesson 12, which told 50: it works out a plan by hand."""
    assert operations(text) == number
    (cell,) = parse(f"# %% [markdown]\n# {text}\n")
    assert minutes_of(cell) == pytest.approx(len(words(text)) / 180 + 0.25 * number)


@pytest.mark.parametrize(
    ("lesson", "minutes"),
    [("05_all_reduce_sgd", 75), ("08_fsdp", 60), ("09_pipeline", 70), ("11_mixture_of_experts", 70), ("12_hybrid", 75),
     ("13_bottlenecks", 65)],
)  # fmt: skip
def test_the_minutes_are_those_of_a_careful_reader(lesson: str, minutes: float) -> None:
    cells = parse((COURSE / lesson / "lesson.py").read_text(encoding="utf-8"))
    assert sum(map(minutes_of, cells)) == pytest.approx(minutes, rel=0.15)


def test_the_build_puts_the_minutes_in() -> None:
    """Headings told minutes by hand, and were off by up to a quarter."""
    top = "# %% [markdown]\n# # A\n#\n# | | minutes |\n# |---|---|\n"
    top += "# | Whole lesson | {minutes} | all |\n# | Short path | {minutes} | a part |\n# | Lab | 90 | |\n\n"
    body = PATTERN.format(minutes="{minutes}", prose="word " * 360, code="x = 1")
    long = body.replace("6. A title", "7. B").replace(" · short path", "")
    cells = filled(parse(top + body.replace("x = 1", "show.ring()") + long))
    written = "\n".join(c.source for c in cells)
    assert "| Whole lesson | 6 | all |" in written
    assert "| Short path | 3 | a part |" in written
    assert "## 6. A title · 3 minutes · short path" in written
    assert "## 7. B · 2 minutes\n" in written
    assert (
        "## 8. C · 1 minute\n" in filled(parse("# %% [markdown]\n# ## 8. C · {minutes} minutes\n#\n# Short."))[0].source
    )


@pytest.mark.parametrize("typed", ["# ## 6. A title · 6 minutes", "# | Whole lesson | 30 | all of it |"])
def test_nobody_types_minutes(typed: str) -> None:
    source = f"# %% [markdown]\n# ## 5. A · {{minutes}} minutes\n\n# %% [markdown]\n{typed}\n"
    found = [str(p) for p in pattern_problems("lesson.py", parse(source))]
    assert any("lesson.py:4: minutes are computed: write {minutes}" in p for p in found), found


def test_the_limits_of_a_lesson_on_the_pattern() -> None:
    assert any("it has 107 words; 90 are the most for a cell" in p for p in pattern(words=100))
    assert any("it shows 21 lines of code; 20 are the most" in p for p in pattern(lines=21))
    assert any("a line has 90 columns; 88 are the most: x = 1" in p for p in pattern(text="x = 1" + " + 1" * 21 + "0"))
    assert any("the lesson has 0 quiz questions; it should have 5" in p for p in pattern())
    assert any("the lesson has 0 predictions; it should have 3 to 6" in p for p in pattern())
    assert any("the lesson has 152 shown lines of code; 150 are the most: move" in p for p in pattern(lines=152))
    assert not any("words" in p for p in pattern(words=10))
    assert pattern_of_none() == []


def pattern_of_none() -> list[str]:
    """A lesson whose headings tell no minutes is on no pattern."""
    told = PATTERN.format(minutes="{minutes}", prose="word " * 200, code="x = 1\n" * 200)
    source = told.replace(" · {minutes} minutes · short path", "")
    return [str(p) for p in pattern_problems("lesson.py", parse(source))]


def test_tables_are_not_counted_as_words_of_a_cell() -> None:
    text = "one two\n\n| three | four |\n|---|---|\n| five | – |"
    assert words(text) == ["one", "two", "three", "four", "five"]
    assert words(text, tables=False) == ["one", "two"]


def test_hints_stand_inside_each_other() -> None:
    html = nested("first\n---\nsecond\n\n```python\nx\n```\n---\nthird")
    assert html.count("<details>") == html.count("</details>") == 3
    assert re.search(
        r"<details>.*first.*<details>.*second.*<details>.*third.*</details>.*</details>.*</details>", html, re.S
    )
    assert "Hint 2 of 3: the idea" in html


HINT = '# %% [markdown] lab="hint total"\n# Take paper.\n# ---\n# Add them.\n# ---\n# A loop with holes.\n\n'


def test_a_hint_stands_folded_in_the_lab(sample: Path, find) -> None:
    lab = sample / "course/90_sample/lab.py"
    plain = lab.read_text()
    lab.write_text(plain.replace('# %% lab="answer total"', HINT + '# %% lab="answer total"'))
    build(sample, find=find)
    cell = next(c for c in cells_of(sample / "labs/90_sample/lab.ipynb") if c.id == "hint-total")
    assert cell.source.count("<details>") == 3
    assert cell.metadata.nbgrader.locked is True
    assert (cell.metadata.nbgrader.grade, cell.metadata.nbgrader.solution) == (False, False)
    lab.write_text(
        plain.replace(
            '# %% lab="answer total"', HINT.replace("# ---\n# A loop", "# A loop") + '# %% lab="answer total"'
        )
    )
    with pytest.raises(BuildError, match="a hint has 3 parts"):
        build(sample, find=find)
    lab.write_text(plain + HINT.replace("total", "nothing"))
    with pytest.raises(BuildError, match='it helps with nothing: there is no cell with lab="answer nothing"'):
        build(sample, find=find)
