"""The figures in headless Chromium, on a bare page; a field has a model that talks to the real Python widget.

No Jupyter and no network: every request that leaves the page fails the test. Screenshots go to tests/screenshots/
(ignored by git): they are there to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from drawn_traces import ring_trace

from lockstep import predict, progress, reconcile
from lockstep.checks import Score
from lockstep.collectives import ring_all_reduce
from lockstep.dye import dye, total
from lockstep.errors import Deadlock, RankState
from lockstep.events import Event, Trace, Unequal
from lockstep.experiments.horovod.recorded import recording
from lockstep.lessons import horovod_button as on_horovod
from lockstep.show import costs, horovod, message_times, palette, ring, roofline, timeline, xray
from lockstep.show.figure import Drawn
from lockstep.show.widget import Figure

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

SHOTS = Path(__file__).parents[1] / "screenshots"
DARK = """body { background: #111; --jp-content-font-color1: #fff; --jp-content-font-color2: rgba(255,255,255,.7);
          --jp-layout-color0: #111; --jp-brand-color1: #64b5f6; --jp-error-color1: #ff7961; }"""

# anywidget's side of the front end: a model whose changes and messages go to `kernel`, which answers with its state.
RUNTIME = """async ({source, state}) => {
  const listeners = {}, changed = {};
  const take = (news) => { for (const [k, v] of Object.entries(news)) {
    const before = JSON.stringify(state[k]);
    state[k] = v;
    if (before !== JSON.stringify(v)) (listeners['change:' + k] ?? []).forEach((f) => f());
  } };
  const model = {
    get: (k) => state[k],
    set: (k, v) => { state[k] = v; changed[k] = v; },
    save_changes: async () => {
      const sent = {...changed};
      for (const k in changed) delete changed[k];
      take(await kernel({set: sent}));
    },
    send: async (content) => take(await kernel({send: content})),
    on: (name, f) => (listeners[name] ??= []).push(f),
    off: (name, f) => { listeners[name] = (listeners[name] ?? []).filter((g) => g !== f); },
  };
  const module = await import(URL.createObjectURL(new Blob([source], {type: 'text/javascript'})));
  module.default.initialize({model});
}"""

# JupyterLab draws an output before it stands in the page, and runs its scripts by putting them in anew.
JOINS_LATER = """html => {
  const output = document.createElement('div');
  output.innerHTML = html;
  for (const old of output.querySelectorAll('script')) {
    const script = document.createElement('script');
    script.type = old.type;
    script.textContent = old.textContent;
    old.replaceWith(script);
  }
  document.body.append(output);
}"""


@pytest.fixture
def show(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """``show(figure)`` → the page with it."""
    page = browser.new_page(viewport={"width": 920, "height": 760})
    went_wrong: list[str] = []
    page.on("pageerror", lambda error: went_wrong.append(str(error)))
    page.on("console", lambda message: went_wrong.append(message.text) if message.type == "error" else None)
    page.on(
        "request", lambda r: went_wrong.append(r.url) if not r.url.startswith(("blob:", "data:", "about:")) else None
    )

    def put(figure: Figure | Drawn, theme: str = "", detached: bool = False) -> Any:
        html = figure.html()
        page.set_content(f"<!doctype html><style>{theme}</style><body>{'' if detached else html}")
        if detached:
            page.evaluate(JOINS_LATER, html)
        if isinstance(figure, Figure):
            connect(figure)
        page.wait_for_selector(".ls-figure")
        return page

    def connect(widget: Figure) -> None:
        def kernel(said: dict[str, Any]) -> dict[str, Any]:
            if "set" in said:
                widget.set_state(said["set"])
            else:
                widget._handle_custom_msg(said["send"], [])
            return shared(widget)

        page.expose_function("kernel", kernel)
        page.evaluate(RUNTIME, {"source": widget._esm, "state": shared(widget) | {"_key": widget._key}})

    yield put
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{request.node.name}.png", full_page=True)
    page.close()
    assert went_wrong == []


def shared(widget: Figure) -> dict[str, Any]:
    """What the widget shares with the browser beyond what every ipywidget shares."""
    return {
        k: v
        for k, v in widget.get_state().items()
        if not k.startswith("_") and k not in ("layout", "tabbable", "tooltip", "comm")
    }


def span(page: Any) -> tuple[float, float]:
    """The seconds that the timeline shows."""
    page.wait_for_timeout(60)
    data = page.locator(".ls-figure").evaluate("e => ({...e.dataset})")
    return float(data["from"]), float(data["to"])


def pixels(page: Any, colour: str) -> int:
    """How many pixels of the canvas have exactly this colour."""
    count = """(canvas, [r, g, b]) => {
      const d = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      let n = 0;
      for (let i = 0; i < d.length; i += 4) if (d[i] === r && d[i + 1] === g && d[i + 2] === b && d[i + 3] === 255) n++;
      return n;
    }"""
    return int(page.locator("canvas").evaluate(count, [int(colour[i : i + 2], 16) for i in (1, 3, 5)]))


# The timeline


@pytest.mark.slow
def test_horovods_timeline_has_tensors_for_ranks_and_its_keys(show: Any) -> None:
    page = show(horovod(recording("timelines").value["late tensors"]))
    assert page.locator(".ls-caption").inner_text().startswith("5 tensors · ")
    page.locator("canvas").focus()
    page.keyboard.press("n")
    assert page.locator(".ls-readout").inner_text().startswith("allreduce.a: NEGOTIATE_ALLREDUCE")
    before = span(page)
    page.keyboard.press("+")
    assert span(page)[1] - span(page)[0] < before[1] - before[0]
    assert pixels(page, palette.colour("GLOO_ALLREDUCE")) > 100


@pytest.mark.slow
def test_timeline_that_joins_the_page_later_has_its_colours(show: Any) -> None:
    """JupyterLab renders an output before it stands in the page: there, no colour of the theme could be read, and the
    lanes of the lesson's ring were black."""
    page = show(timeline(ring_trace(4)), detached=True)
    page.wait_for_timeout(200)
    assert pixels(page, "#000000") < 100


def test_timeline_draws_and_names_its_kinds(show: Any) -> None:
    page = show(timeline(ring_trace(4)))
    assert page.locator(".ls-legend span").all_text_contents() == ["compute", "send", "recv"]
    assert "24 messages" in page.locator(".ls-caption").text_content()
    assert pixels(page, "#E69F00") > 1000
    assert pixels(page, "#56B4E9") > 1000


@pytest.mark.slow
def test_timeline_says_where_ranks_differ(show: Any) -> None:
    unequal = (Unequal((0, 1), "bandwidth", 1e9), Unequal((3,), "speed", 0.5))
    page = show(timeline(replace(ring_trace(4), unequal=unequal)))
    assert page.locator(".ls-hint").last.text_content() == "link 0–1: 1 GB/s · rank 3: 0.5× speed"
    page.hover("canvas", position={"x": 130, "y": 12})  # lanes begin further to the right
    told = page.locator(".ls-readout div").all_text_contents()
    assert told[0] == "rank 0: compute"
    assert "mm" in told[1]


@pytest.mark.slow
def test_timeline_in_the_dark(show: Any) -> None:
    page = show(timeline(ring_trace(4)), DARK)
    page.hover("canvas", position={"x": 400, "y": 12})
    assert page.locator(".ls-readout").evaluate("e => getComputedStyle(e).color") == "rgb(255, 255, 255)"
    assert page.locator(".ls-figure").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(17, 17, 17)"


@pytest.mark.slow
def test_timeline_hover_says_kind_bytes_peer_line_and_time(show: Any) -> None:
    page = show(timeline(ring_trace(4)))
    assert "Point at a bar" in page.locator(".ls-readout").text_content()
    page.hover("canvas", position={"x": 400, "y": 12})
    lines = page.locator(".ls-readout div").all_text_contents()
    assert lines[:2] == ["rank 0: send to rank 1", "1.02 kB"]
    assert lines[2].endswith("µs (11 µs)")
    assert lines[3] == "Cell In[3], line 7, in ring"
    page.hover("canvas", position={"x": 400, "y": 27})
    assert page.locator(".ls-readout div").first.text_content() == "rank 0: recv from rank 3"
    assert "stood still for 11 µs" in page.locator(".ls-readout").text_content()
    page.mouse.move(5, 700)
    assert "Point at a bar" in page.locator(".ls-readout").text_content()


@pytest.mark.slow
def test_timeline_is_pale_while_a_message_waits_and_says_all_three_times(show: Any) -> None:
    events = [
        Event(0, "send", 6e-6, 8e-6, 8, 1, message=1, posting=0.0),
        Event(1, "recv", 6e-6, 8e-6, 8, 0, message=1, posting=5e-6),
        Event(1, "compute", 0.0, 5e-6, name="mm"),
        Event(2, "recv", 8e-6, 8e-6, 8, 1, posting=1e-6),
    ]
    page = show(timeline(Trace.of(events, 3, "virtual")), DARK)
    assert page.locator(".ls-legend span").last.text_content() == "pale: waits for its other end or a port"
    lane = (page.locator("canvas").bounding_box()["width"] - 72) * 15
    assert 0.1 * lane < pixels(page, "#E69F00") < 0.25 * lane, "it is under way for a quarter of the time"
    page.hover("canvas", position={"x": 200, "y": 12})
    assert "posted at 0 s, under way from 6 µs to 8 µs (2 µs)" in page.locator(".ls-readout div").all_text_contents()
    page.hover("canvas", position={"x": 500, "y": 56})
    assert "posted at 1 µs, still waiting at 8 µs" in page.locator(".ls-readout div").all_text_contents()


def test_timeline_zooms_by_wheel_around_the_pointer_once_it_is_clicked(show: Any) -> None:
    trace = ring_trace(4)
    page = show(timeline(trace))
    page.mouse.move(400, 120)
    page.mouse.wheel(0, -300)
    assert span(page) == (0, trace.time)
    page.click("canvas", position={"x": 400, "y": 12})
    page.mouse.wheel(0, -300)
    low, high = span(page)
    assert high - low == pytest.approx(trace.time / 2.718, rel=0.01)
    assert low > 0


@pytest.mark.slow
def test_timeline_drags_and_stays_inside(show: Any) -> None:
    trace = ring_trace(4)
    page = show(timeline(trace))
    page.focus("canvas")
    page.keyboard.press("+")
    before = span(page)
    box = page.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 420, box["y"] + 40, steps=4)
    page.mouse.up()
    after = span(page)
    assert after[0] > before[0]
    assert after[1] - after[0] == pytest.approx(before[1] - before[0])
    page.mouse.down()
    page.mouse.move(box["x"] - 3000, box["y"] + 40, steps=3)
    page.mouse.up()
    assert span(page)[1] <= trace.time * (1 + 1e-9)


def test_timeline_by_keyboard_alone(show: Any) -> None:
    trace = ring_trace(4)
    page = show(timeline(trace))
    for _ in range(10):  # eight buttons and a slider come first
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "CANVAS"
    page.keyboard.press("+")
    page.keyboard.press("+")
    zoomed = span(page)
    assert zoomed[1] - zoomed[0] == pytest.approx(trace.time / 2.25)
    page.keyboard.press("ArrowRight")
    assert span(page)[0] > zoomed[0]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("-")
    page.keyboard.press("0")
    assert span(page) == (0, trace.time)
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.locator("[aria-live] div").all_text_contents()[:2] == ["rank 0: send to rank 1", "1.02 kB"]


@pytest.mark.slow
def test_timeline_keeps_its_keys_from_jupyterlab(show: Any) -> None:
    page = show(timeline(ring_trace(2)))
    page.evaluate("window.heard = 0; document.addEventListener('keydown', () => heard++)")
    page.focus("canvas")
    page.keyboard.press("0")
    assert page.evaluate("heard") == 0
    assert page.locator("[data-lm-suppress-shortcuts]").count() == 1


@pytest.mark.slow
def test_timeline_buttons(show: Any) -> None:
    trace = ring_trace(4)
    page = show(timeline(trace))
    page.get_by_role("button", name="zoom in").click()
    assert span(page)[1] < trace.time
    page.get_by_role("button", name="later").click()
    assert span(page)[0] > 0
    page.get_by_role("button", name="show all").click()
    assert span(page) == (0, trace.time)


@pytest.mark.slow
def test_timeline_of_64_ranks_and_8064_messages_answers_at_once(show: Any) -> None:
    page = show(timeline(ring_trace(64)))
    assert "Zoom in to see all" in page.locator(".ls-hint").text_content()
    page.focus("canvas")
    for _ in range(12):
        page.keyboard.press("+")
    span(page)
    assert "the wheel zooms" in page.locator(".ls-hint").text_content()
    height = page.locator("canvas").bounding_box()["height"]
    page.get_by_role("button", name="Tall lanes").click()
    page.wait_for_timeout(60)
    assert page.locator("canvas").bounding_box()["height"] > 2 * height


@pytest.mark.slow
def test_timeline_shows_instant_events_and_says_what_they_are(show: Any) -> None:
    page = show(timeline(Trace.of([Event(0, "barrier", 0, 0), Event(1, "compute", 0, 0, name="add")], 2, "virtual")))
    assert pixels(page, "#3A3A3A") > 10
    page.hover("canvas", position={"x": 64, "y": 12})
    assert page.locator(".ls-readout div").first.text_content() == "rank 0: barrier"


def test_timeline_of_nothing(show: Any) -> None:
    page = show(timeline(Trace(ranks=3)))
    assert "Nothing was recorded" in page.locator(".ls-hint").text_content()


def test_timeline_of_a_deadlock_draws_the_circle(show: Any) -> None:
    states = [
        RankState(r, "waiting", f"send(dst={(r + 1) % 3})", "Cell In[6], line 4", "dist.send(x, right)", ((r + 1) % 3,))
        for r in range(3)
    ]
    page = show(timeline(Deadlock("A circle.", states, ring_trace(3))), DARK)
    told = page.locator(".ls-picture svg").text_content()
    assert "The circle of waits: rank 0 → 1 → 2 → 0" in told
    assert page.locator("canvas").count() == 1


def test_timeline_shows_learners_names_as_text(show: Any) -> None:
    nasty = "<img src=x onerror=alert(1)>"
    page = show(timeline(Trace.of([Event(0, "compute", 0, 1, name=nasty, where=nasty)], 1)))
    page.hover("canvas", position={"x": 400, "y": 12})
    assert nasty in page.locator(".ls-readout").text_content()
    assert page.locator("img").count() == 0


# The ring


def test_the_rings_slider_moves_the_figure(show: Any) -> None:
    page = show(ring(4))
    assert "step 0 of 6" in page.locator(".ls-picture").text_content()
    slider = page.get_by_role("slider", name="step")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('step 3 of 6')")
    assert "1 complete chunk" in page.locator("[aria-live]").text_content()
    page.get_by_role("button", name="step forward").click()
    assert "step 4 of 6" in page.locator(".ls-picture").text_content()
    page.get_by_role("button", name="step back").click()
    page.get_by_role("button", name="step back").click()
    assert "step 2 of 6" in page.locator(".ls-picture").text_content()


@pytest.mark.slow
def test_the_ring_of_other_ranks(show: Any) -> None:
    page = show(ring(4), DARK)
    page.get_by_role("slider", name="ranks").fill("5")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('of 10')")
    assert page.locator("output").all_text_contents() == ["0 of 10", "6"]
    assert page.get_by_role("slider", name="step").get_attribute("max") == "10"
    page.get_by_role("slider", name="step").fill("7")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('step 7 of 10')")


def test_the_ring_plays_and_stops_at_its_end(show: Any) -> None:
    page = show(ring(2))
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(6000)
    assert "step 2 of 2" in page.locator(".ls-picture").text_content()
    assert page.get_by_role("button", name="Play").count() == 1


# The X-ray


def test_the_xray_begins_with_the_result_and_goes_back(show: Any) -> None:
    dyed = dye(ring_all_reduce, ranks=3, steps=True)
    page = show(xray(dyed, total(dyed)), DARK)
    assert "after 4 rounds" in page.locator(".ls-picture").text_content()
    page.get_by_role("button", name="step back").click()
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('before round 4 of 4')")


@pytest.mark.slow
def test_an_xray_of_a_result_alone_has_no_player(show: Any) -> None:
    page = show(xray(dye(ring_all_reduce, ranks=2)))
    assert "Who is in the result" in page.locator(".ls-picture").text_content()
    assert page.get_by_role("button").count() == 0


# Costs


def test_the_costs_sliders_move_the_curves(show: Any) -> None:
    page = show(costs(ranks=12))
    assert "tree = ring at" in page.locator(".ls-picture").text_content()
    page.get_by_role("slider", name="ranks").fill("4")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('16 ranks')")
    before = page.locator(".ls-picture polyline").first.get_attribute("points")
    page.get_by_role("slider", name="α").fill("6")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('1 ms a message')")
    assert page.locator(".ls-picture polyline").first.get_attribute("points") != before
    page.get_by_role("slider", name="1/β").fill("4")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('100 GB a second')")


@pytest.mark.slow
def test_the_costs_can_be_read_by_pointer_and_by_keys(show: Any) -> None:
    page = show(costs(ranks=16), DARK)
    box = page.locator(".ls-picture svg").bounding_box()
    page.mouse.move(box["x"] + 400, box["y"] + 200)
    first = page.locator(".ls-readout").text_content()
    assert all(f"{name} " in first for name in ("star", "tree", "ring", "halving-doubling"))
    page.locator(".ls-picture").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".ls-readout").text_content() != first


# Predictions


def test_a_prediction_is_refused_then_locked(show: Any) -> None:
    page = show(predict("ring-64", "How many ms?", unit="ms"))
    field, button = page.get_by_role("textbox"), page.get_by_role("button")
    field.fill("about three")
    button.click()
    page.wait_for_function("document.querySelector('.ls-message').textContent.includes('is not a number')")
    assert field.is_enabled()
    field.fill("2,5")
    field.press("Enter")
    page.wait_for_function("document.querySelector('input').readOnly")
    field.press("9")
    assert field.input_value() == "2.5"
    assert page.evaluate("document.activeElement.tagName") == "INPUT", "a disabled field would lose the focus"
    assert page.get_by_role("status").text_content() == "Committed: 2.5 ms."
    committed = progress.prediction("ring-64")
    assert committed is not None
    assert committed.value == 2.5


@pytest.mark.slow
def test_a_locked_prediction_is_shown_after_a_restart(show: Any) -> None:
    progress.lock_prediction("ring-64", 7, "ms", "How many ms?")
    page = show(predict("ring-64", "How many ms?", unit="ms"), DARK)
    assert page.get_by_role("textbox").input_value() == "7"
    assert page.get_by_role("textbox").is_disabled()
    assert page.get_by_role("button").is_disabled()


def test_reconciling_asks_for_the_reason_and_keeps_it(show: Any) -> None:
    predict("ring-64", "How many ms?", unit="ms", value=2)
    page = show(reconcile("ring-64", simulated=4, measured=31))
    assert "measured is 15.5 × predicted" in page.locator(".ls-picture").text_content()
    page.get_by_role("textbox").fill("gloo copies through the kernel")
    page.get_by_role("button", name="Keep").click()
    page.wait_for_function("document.querySelector('.ls-message').textContent === 'Kept.'")
    kept = progress.prediction("ring-64")
    assert kept is not None
    assert kept.reason == "gloo copies through the kernel"


@pytest.mark.slow
def test_reconciling_too_early_shows_nothing(show: Any) -> None:
    page = show(reconcile("ring-64", simulated=4, measured=31.4159))
    assert page.locator("svg").count() == 0
    assert "Commit your prediction first" in page.locator(".ls-figure").text_content()
    assert "31.4159" not in page.content().split("<body>")[1]


# The roofline


ROOFS = {"L1": 250e9, "memory": 20e9}
KERNELS = {"dot": (2e6, 8e6, 5e-4), "polynomial": (18e6, 8e6, 6e-4), "matmul": (2e9, 12e6, 4e-2)}


@pytest.mark.later
def test_roofline_reads_the_roof_under_the_pointer_and_each_kernel(show: Any) -> None:
    page = show(roofline(100e9, ROOFS, KERNELS))
    readout = page.locator(".ls-readout")
    page.hover("[data-kernel='1'] circle")
    assert "polynomial: 18 MFLOP and 8 MB, 2.25 FLOP/byte. At most 45 GFLOP/s" in readout.text_content()
    page.mouse.move(680, 300)
    assert "limited by computing" in readout.text_content()
    page.mouse.move(160, 300)
    assert "limited by memory (20 GB/s)" in readout.text_content()
    assert page.locator(".ls-cross").count() == 1


@pytest.mark.later
def test_roofline_by_keyboard_in_the_dark(show: Any) -> None:
    page = show(roofline(100e9, ROOFS, KERNELS), DARK)
    page.focus(".ls-picture")
    names = []
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        names.append(page.locator(".ls-readout").text_content().partition(":")[0])
    assert names == ["dot", "polynomial", "matmul", "dot"]
    page.keyboard.press("ArrowLeft")
    assert page.locator(".ls-readout").text_content().startswith("matmul")


# Charts


def test_a_chart_is_read_by_pointer_and_by_keys(show: Any) -> None:
    page = show(message_times([10, 1000, 100_000], [2e-5, 2e-5, 6e-5], 2e-5, 4e-10), DARK)
    page.focus(".ls-picture")
    page.keyboard.press("ArrowRight")
    assert page.locator(".ls-readout").text_content() == "10 bytes: measured 20 µs, fitted 20 µs"
    box = page.locator('[aria-label^="100 kB"]').bounding_box()
    page.mouse.move(box["x"] + 6, box["y"] + 6)
    assert page.locator(".ls-readout").text_content() == "100 kB: measured 60 µs, fitted 60 µs"
    assert page.locator("svg text").first.evaluate("e => getComputedStyle(e).fill") != "rgb(31, 35, 40)"


# Feedback


@pytest.mark.slow
def test_the_timeline_of_feedback_zooms(browser: Any) -> None:
    score = Score("communication.x", 2, 5, "wrong", trace=ring_trace(3))
    page = browser.new_page()
    page.set_content(f"<!doctype html><body>{score._repr_mimebundle_()['text/html']}")
    page.wait_for_selector("canvas")
    page.get_by_role("button", name="zoom in").click()
    assert span(page)[1] < score.trace.time
    page.close()


# The button that builds Horovod


class AtOnce(Thread):
    """This page hears only what the kernel answers."""

    def start(self) -> None:
        self.run()


@pytest.mark.slow
def test_a_button_builds_horovod(show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_horovod, "available", lambda: False)
    monkeypatch.setattr(on_horovod, "version", lambda: "0.28.1")
    monkeypatch.setattr(on_horovod, "provide", lambda tell: tell("Horovod is compiled", 0.5))
    monkeypatch.setattr(on_horovod, "Thread", AtOnce)
    page = show(on_horovod.horovod_ready())
    assert page.get_by_role("group", name="Horovod", exact=True).count() == 1
    assert "Horovod is not installed here." in page.get_by_role("status").text_content()
    page.get_by_role("button", name=on_horovod.OFFER).click()
    page.get_by_text("Horovod 0.28.1 is ready. Run the cells below again.").wait_for()
    assert page.get_by_role("button").count() == 0


def test_equal_ranks_and_operations_are_shown_by_buttons(show: Any) -> None:
    """Eight equal lanes stood below each other, and bars were called mm and t."""
    events = [Event(r, kind, start, start + 1, name="mm", message=m) for r in range(8)
              for kind, start, m in (("forward", 0.0, None), ("all_reduce", 1.0, 0))]  # fmt: skip
    figure = timeline(Trace.of(events, 8, "virtual"))
    page = show(figure)
    button = page.get_by_role("button", name="Each rank by itself")
    canvas = page.locator("canvas")
    low = canvas.bounding_box()["height"]
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert page.locator("canvas").bounding_box()["height"] > 3 * low
    button.click()
    assert page.locator("canvas").bounding_box()["height"] == low
