"""The coverage sheet of the lecture notes: what it says is so, and it is what its data say."""

import re
from collections import Counter
from pathlib import Path

import pytest

from lockstep.checks import exercises
from lockstep.errors import UsageError
from lockstep.grading.build import build
from lockstep.grading.course import UNITS
from lockstep.grading.coverage_sheet import EXERCISE, PAGE, SOURCE, Entry, entries, page, places

ROOT = Path(__file__).parents[2]
SHEET = entries(ROOT)
NAMED = {place for one in SHEET for place in one.taught}
WRITTEN = [unit for unit in UNITS if (ROOT / "course" / unit.folder / "lesson.py").exists()]

# Where a lesson sets its own count against the notes: a table in Markdown, or one that the library makes.
CORRECTS = re.compile(
    r"^# \| a common claim \| we (count|measure) \|"
    r"|\b(corrections|notes|slides|all_reduce|resnet50|data_parallel|data_or_model|opt)_table\(|\bbeside\(verdicts",
    re.M,
)
HEADING = re.compile(r"^# ## (?:\d+\. )?(.*?)(?: · .*)?$", re.M)


def corrected() -> list[str]:
    """The sections of lessons that correct the notes, as the sheet names them."""
    found = []
    for unit in WRITTEN:
        source = (ROOT / "course" / unit.folder / "lesson.py").read_text()
        _, *parts = HEADING.split(source)
        for title, text in zip(parts[::2], parts[1::2], strict=True):
            found += [f"{unit.number:02d} {title}"] if CORRECTS.search(text) else []
    return found


def test_every_place_is_there() -> None:
    """The build refuses another place, too. It takes a lab's word for its exercises."""
    assert NAMED - dict(places(ROOT)).keys() == set()
    named = {place for place in NAMED if re.fullmatch(r"\w+\.\w+", place)}
    assert named - {exercise.id for exercise in exercises()} == set()


def test_each_topic_has_a_place_or_a_reason() -> None:
    assert [one.title for one in SHEET if not (one.taught or one.later or one.left_out or one.missing)] == []
    assert [one.title for one in SHEET if one.differs and not one.taught] == []


def test_each_topic_that_has_a_place_says_how_far_it_comes() -> None:
    """What is run has a cell that runs: an exercise, or a section with code."""
    assert [one.title for one in SHEET if bool(one.taught) != (one.how in ("run", "taught", "named"))] == []
    runs = sections_with_code() | {place for place in NAMED if EXERCISE.fullmatch(place)}
    assert [one.title for one in SHEET if one.how == "run" and not runs.intersection(one.taught)] == []
    assert [one.title for one in SHEET if one.how != "run" and any(map(EXERCISE.fullmatch, one.taught))] == []


def sections_with_code() -> set[str]:
    found = set()
    for unit in WRITTEN:
        for stem, called in (("lesson", f"{unit.number:02d}"), ("more", f"{unit.number:02d} more:")):
            source = ROOT / "course" / unit.folder / f"{stem}.py"
            _, *parts = HEADING.split(source.read_text()) if source.exists() else [""]
            code = {title for title, text in zip(parts[::2], parts[1::2], strict=True) if re.search(r"^\w", text, re.M)}
            found |= {f"{called} {title}" for title in code}
    return found


def test_each_topic_stands_once_under_a_short_title() -> None:
    titles = Counter((one.notes, one.title) for one in SHEET)
    assert [title for title, times in titles.items() if times > 1] == []
    assert [one.title for one in SHEET if len(one.title.split()) > 10 or "|" in one.title + one.remarks] == []
    assert len({one.notes for one in SHEET}) == 5
    assert 80 <= len(SHEET) <= 130


def test_what_is_to_come_is_not_there_yet() -> None:
    """Once a unit is written, what it was to have needs its places."""
    written = {f"{unit.number:02d}" for unit in WRITTEN}
    units = {one.title: one.later[:2] for one in SHEET if one.later}
    assert all(re.match(r"\d\d: ", one.later) for one in SHEET if one.later)
    assert set(units.values()) <= {f"{unit.number:02d}" for unit in UNITS}
    assert {title: unit for title, unit in units.items() if unit in written} == {}


def test_each_lesson_teaches_something_of_the_notes() -> None:
    taught = {place[:2] for place in NAMED if re.match(r"\d\d (?!more: )", place)}
    assert taught == {f"{unit.number:02d}" for unit in WRITTEN}


def test_what_a_lesson_corrects_is_said_in_the_sheet() -> None:
    said = {place for one in SHEET if one.differs for place in one.taught}
    assert [section for section in corrected() if section not in said] == []
    assert {section[:2] for section in corrected()} >= {"04", "05", "06", "07", "08", "09", "10", "11"}


def test_the_page_is_what_the_data_say() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page(ROOT), "run `lockstep build`"


def test_its_links_lead_somewhere() -> None:
    links = set(re.findall(r"\]\(([^)#]+)\)", (ROOT / PAGE).read_text(encoding="utf-8")))
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
    assert "docs/coverage.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "lacks"),
    [
        ({"taught": ("04 Ring",), "how": "run"}, []),
        ({"taught": ("04 Ring",), "how": "named", "differs": "It has chunks."}, []),
        ({"taught": ("04 Ring",), "how": "run", "later": "12: more"}, ["later"]),
        ({"later": "12: all", "missing": "Trees."}, ["later", "missing"]),
        ({"left_out": "It is a chart."}, ["left_out"]),
    ],
)
def test_what_is_not_there_counts_even_where_the_rest_is_taught(given: dict, lacks: list[str]) -> None:
    assert Entry("notes", "title", **given).lacks == lacks


LESSON = "# %% [markdown]\n# # 04\n#\n# ## 3. Ring · 9 minutes · short path\n# ## Wrap-up\n"
LAB = '# %% lab="tests ring_all_reduce"\ncheck("communication.ring_all_reduce", ring_all_reduce)\n'
SOURCE_OF_ONE = """[[notes]]
subject = "A"

[[notes.topics]]
title = "Rings"
taught = ["communication.ring_all_reduce", "04 Ring", "04 more: Nodes"]
missing = "Trees."
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    unit = tmp_path / "course" / "04_communication"
    unit.mkdir(parents=True)
    (unit / "lesson.py").write_text(LESSON)
    (unit / "more.py").write_text("# %% [markdown]\n# ## Nodes\n")
    (unit / "lab.py").write_text(LAB)
    (tmp_path / "docs").mkdir()
    (tmp_path / SOURCE).write_text(SOURCE_OF_ONE)
    return tmp_path


def test_a_row_names_its_places_in_the_order_of_the_course(course: Path) -> None:
    folder = "../course/04_communication"
    told = (
        f"| Rings | run here | [04]({folder}/lesson.ipynb) 3. Ring; [04 more]({folder}/more.ipynb) Nodes; "
        "[`ring_all_reduce`](../labs/04_communication/lab.ipynb) | **Missing**: Trees. |"
    )
    assert told in page(course).splitlines()
    assert "| all | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 1 |" in page(course).splitlines()


def test_a_heading_that_has_changed_is_named(course: Path) -> None:
    lesson = course / "course/04_communication/lesson.py"
    lesson.write_text(LESSON.replace("Ring", "Rings"))
    with pytest.raises(UsageError, match=re.escape("docs/coverage.toml: there is no '04 Ring'.")):
        page(course)
    lesson.write_text(LESSON.replace("3. Ring · 9 minutes", "12. Ring · 90 minutes"))
    assert "12. Ring" in page(course)  # another number, other minutes: the same section


def test_the_build_makes_the_page(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / SOURCE).write_text('[[notes]]\nsubject = "A"\n\n[[notes.topics]]\ntitle = "B"\nleft_out = "it is C."\n')
    assert build(tmp_path, check=True) == [PAGE]
    assert build(tmp_path) == [PAGE]
    assert "| B | not there |  | Left out: it is C. |" in (tmp_path / PAGE).read_text()
    assert build(tmp_path, check=True) == []
