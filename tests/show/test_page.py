"""Every figure comes into a page: with its alternative text, with words that can be read, and without network."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from all_figures import FIGURES, STATES
from drawn_traces import ring_trace

from lockstep import show
from lockstep.errors import Deadlock, RankState
from lockstep.show.figure import LONG, page, script

SVG = "{http://www.w3.org/2000/svg}"
NARROWEST = 508 / 540  # what JupyterLab leaves of a figure's width in a window of 960 pixels


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_itself_and_can_be_read_at_960_pixels(name: str) -> None:
    figure = FIGURES[name]()
    root = ElementTree.fromstring(figure.svg())
    title, told = root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")
    assert title
    assert told
    html = figure.html()
    (alt,) = re.findall(r'<img class="ls-still"[^>]* alt="([^"]+)" src="data:image/svg\+xml;base64,', html)
    assert len(alt) > 20
    assert float(root.get("width", 0)) == 540
    sizes = [
        float(e.get("font-size", "0").removesuffix("px")) for e in root.iter(f"{SVG}text") if "".join(e.itertext())
    ]
    assert min(sizes) * NARROWEST >= 11
    assert "widget-view" not in repr(figure._repr_mimebundle_())


def test_every_figure_of_the_library_is_among_them() -> None:
    assert set(show.__all__) - {"chart", "progress"} <= set(FIGURES)


def test_a_page_loads_nothing_and_what_a_learner_named_cannot_break_out() -> None:
    nasty = "</script><img src=x onerror=alert(1)>\u2028"
    html = page("<svg/>", f'"{nasty}', script("picture"), {"label": nasty})
    assert html.count("</script>") == 1
    assert "<img src=x" not in html
    outside = re.findall(r"https?://[^\"'\s)]+", html)
    assert set(outside) <= {"http://www.w3.org/2000/svg"}


def test_a_long_state_is_compressed_and_the_same_page_is_the_same_text() -> None:
    state = {"frames": ["<rect/>" * LONG]}
    html = page("<svg/>", "words", script("picture"), state)
    assert "await unpacked(" in html
    assert len(html) < LONG
    assert html == page("<svg/>", "words", script("picture"), state)


def test_a_deadlock_before_the_clock_moved_has_no_empty_timeline() -> None:
    figure = show.timeline(Deadlock("A circle.", STATES, ring_trace(2)))
    assert figure.state()["data"]
    still = ring_trace(2)
    stuck = [e._replace(start=0.0, end=0.0) for e in still]
    figure = show.timeline(Deadlock("A circle.", STATES, still.of(stuck, 2, "virtual")))
    assert figure.state()["data"] is None
    assert "rank 0 waits in send(dst=1)" in figure.svg()
    assert "virtual time" not in figure.svg()


def test_long_lines_of_a_deadlock_are_shown_whole() -> None:
    line = "dist.send(tensor[rank * chunk_length:(rank + 1) * chunk_length], group_dst=right_neighbour_of(rank))"
    states = [RankState(0, "waiting", "send(dst=1)", "Cell In[4], line 5, in ring_all_reduce", line, (1,)), STATES[1]]
    told = "".join(ElementTree.fromstring(show.timeline(Deadlock("", states)).svg()).itertext())
    assert line.replace(" ", "") in told.replace(" ", "")
