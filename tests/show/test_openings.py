"""Every lesson begins with its picture: drawn by code, as committed, with words for those who do not see it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints
from xml.etree import ElementTree

import nbformat
import pytest

from lockstep import show
from lockstep.grading.course import UNITS
from lockstep.show.axes_on_links import AxesOnLinks
from lockstep.show.openings import TOPICS, alternative, mixture_of_experts, opening, why_parallel, without_waiting
from lockstep.show.plan import PlanExplorer
from lockstep.show.player import Player
from lockstep.show.timeline import Timeline
from lockstep.show.widget import Figure

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
LESSONS = [unit for unit in UNITS if (ROOT / "course" / unit.folder / "lesson.py").is_file()]
pytestmark = pytest.mark.reads("course/")


def test_every_lesson_has_one() -> None:
    assert [unit.topic for unit in LESSONS] == list(TOPICS)
    with pytest.raises(KeyError):
        opening("cooking")


@pytest.mark.parametrize("unit", LESSONS, ids=lambda unit: unit.topic)
def test_what_is_committed_is_what_is_drawn_and_the_lesson_says_it(unit: Any) -> None:
    folder = ROOT / "course" / unit.folder
    drawn = opening(unit.topic)
    assert (folder / "opening.svg").read_text(encoding="utf-8") == f"{drawn}\n"
    first = nbformat.read(folder / "lesson.ipynb", as_version=4).cells[0].source  # type: ignore[no-untyped-call]
    (told,) = re.findall(r"!\[([^\]]+)\]\(opening\.svg\)", first)
    assert told == alternative(drawn)
    assert len(told) > 80


@pytest.mark.parametrize("topic", TOPICS)
def test_it_can_be_read_where_jupyterlab_has_508_pixels_and_stands_on_its_own_card(topic: str) -> None:
    root = ElementTree.fromstring(opening(topic))
    sizes = [float(e.get("font-size", "0")) for e in root.iter(f"{SVG}text")]
    assert min(sizes) * 508 / 540 >= 11
    card = root.find(f"{SVG}rect")
    assert card is not None
    assert (card.get("width"), card.get("fill")) == ("540", "#FFFFFF")


def widths(drawing: str, fill: str) -> list[float]:
    rects = ElementTree.fromstring(drawing).iter(f"{SVG}rect")
    return [float(e.get("width", 0)) for e in rects if e.get("fill") == fill and float(e.get("height", 0)) > 13]


def test_hours_are_to_scale() -> None:
    alone = widths(opening("why_parallel"), why_parallel.ALONE)
    divided = widths(opening("why_parallel"), why_parallel.DIVIDED)
    assert len(alone) == len(divided) == 4
    assert [round(divided[0] / part, 1) for part in divided] == pytest.approx([1, 2, 4, 8], rel=0.1)
    assert alone[0] / (alone[0] + divided[0] + 1) == pytest.approx(0.2)


def test_steps_are_as_many_as_the_words_say() -> None:
    told = alternative(opening("without_waiting"))
    steps = widths(opening("without_waiting"), without_waiting.STEP)
    assert "12 steps" in told
    assert "21 steps" in told
    assert len([w for w in steps if w < 300]) == 12 + 21


def test_each_token_goes_to_the_expert_that_it_names() -> None:
    ways = mixture_of_experts.ways()
    labels = [e.text for e in ElementTree.fromstring(opening("mixture_of_experts")).iter(f"{SVG}text")]
    assert [label for label in labels if label in ("0", "1", "2", "3")] == [str(way.expert) for way in ways]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_no_word_is_cut(measured: dict[str, list[str]]) -> None:
    assert measured == {topic: [] for topic in TOPICS}


@pytest.fixture
def measured(browser: Any) -> Iterator[dict[str, list[str]]]:
    """Per picture, the words that reach beyond its card, as Chromium lays them out."""
    page = browser.new_page()
    beyond = """() => [...document.querySelectorAll('svg text')].filter((e) => {
      const box = e.getBBox(), card = e.ownerSVGElement.viewBox.baseVal;
      return box.x < 0 || box.x + box.width > card.width || box.y + box.height > card.height;
    }).map((e) => e.textContent)"""
    found = {}
    for topic in TOPICS:
        page.set_content(opening(topic))
        found[topic] = page.evaluate(beyond)
    yield found
    page.close()


def moving(source: str) -> int:
    """Calls in a lesson that draw what can be stepped, played or moved: by what ``show``'s functions give, and the
    timelines of results."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [f for f in calls if isinstance(f, ast.Attribute)]
    figures = [f.attr for f in named if isinstance(f.value, ast.Name) and f.value.id == "show"]
    kinds = [get_type_hints(getattr(show, name)).get("return") for name in figures]
    movable = Player | Timeline | Figure | PlanExplorer | AxesOnLinks
    players = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, movable)]
    return len(players) + sum(f.attr == "show" for f in named)


@pytest.mark.parametrize("unit", LESSONS, ids=lambda unit: unit.topic)
def test_a_lesson_has_three_figures_that_can_be_stepped_or_moved(unit: Any) -> None:
    assert moving((ROOT / "course" / unit.folder / "lesson.py").read_text(encoding="utf-8")) >= 3
