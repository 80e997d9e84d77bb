"""Every figure comes into a page: with its alternative text, with words that can be read, and without network."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from drawn_traces import ring_trace, sawtooth
from numba import cuda
from test_audit_figure import ROWS
from test_survey_figure import BARE, SERVER

from lockstep import show
from lockstep.collectives import ring_all_reduce
from lockstep.cost.tasks import TRAINING
from lockstep.cpu.assembly import innermost_loops
from lockstep.dye import dye, total
from lockstep.errors import Deadlock, RankState
from lockstep.experiments.horovod.recorded import recording
from lockstep.experiments.without_waiting.fewer_bytes import Trained
from lockstep.experts.gpt import MixtureGPT
from lockstep.show.figure import LONG, page, script
from lockstep.simt import launch
from lockstep.tensor_parallel.across_nodes import Size

ASSEMBLY = Path(__file__).parents[1] / "cpu/assembly/avx2-dot_four_accumulators.s"
SVG = "{http://www.w3.org/2000/svg}"
NARROWEST = 508 / 540  # what JupyterLab leaves of a figure's width in a window of 960 pixels
STATES = [
    RankState(r, "waiting", f"send(dst={1 - r})", "Cell In[4], line 5", "dist.send(x, 1 - r)", (1 - r,)) for r in (0, 1)
]


def halves(values: Any) -> None:
    i = cuda.grid(1)
    if i % 2 == 0:
        values[i] = 3


FIGURES: dict[str, Callable[[], Any]] = {
    "active_and_total": show.active_and_total,
    "additions": lambda: show.additions(8),
    "amdahl": lambda: show.amdahl(0.95, 16, {1: 1.0, 2: 0.6}),
    "assignment": lambda: show.assignment([9, 1, 1, 4], {"blocks": [[0, 1], [2, 3]], "by turns": [[0, 2], [1, 3]]}),
    "audit": lambda: show.audit(ROWS),
    "balance": lambda: show.balance([1, 3, 3, 8], {"even cut": [2, 2], "best cut": [3, 1]}),
    "bars": lambda: show.bars({"Python": 32.0, "4 accumulators, in order": 0.3}, "ns", "Time for an element"),
    "batch_and_rate": lambda: show.batch_and_rate(
        [(16, "as for the small batch", 3.0), (1024, "as for the small batch", 9.0)], [(128, "linear", 23.5)]
    ),
    "blocks_on_sms": lambda: show.blocks_on_sms(10, 4),
    "board": lambda: show.board(4, 6, 3, "F0 F1\nF0\n..\n.."),
    "costs": lambda: show.costs(ranks=16),
    "pipeline": lambda: show.pipeline(micro_batches=4),
    "curves": lambda: show.curves({"one step": {4: 2.0, 65536: 150.0}}, "KiB", "ns", "Access", {"L2": 2048}, "xy"),
    "deadlock": lambda: show.timeline(Deadlock("A circle.", STATES, ring_trace(2))),
    "expert_shares": show.expert_shares,
    "flop_shares": show.flop_shares,
    "heads": show.heads,
    "horovod": lambda: show.horovod(recording("timelines").value["late tensors"]),
    "inside_and_across": lambda: show.inside_and_across(Size(1, 512, 4096, 32)),
    "kept_by_ranks": show.kept_by_ranks,
    "lines": lambda: show.lines([(8 * w, w) for w in range(4)], 499, 4),
    "loss_by_bytes": lambda: show.loss_by_bytes(
        [Trained("examples dealt evenly", f"{n}", n, 1e5 / n, 0.5, 7.9) for n in (1, 8)]
        + [Trained("few classes on each rank", f"{n}", n, 1e5 / n, 0.5 + n / 8, 9.0) for n in (1, 8)]
    ),
    "losses_of_twelve": show.losses_of_twelve,
    "matrix_cuts": show.matrix_cuts,
    "memory_over_time": lambda: show.memory_over_time(sawtooth()),
    "memory_stacks": show.memory_stacks,
    "message_times": lambda: show.message_times([8, 800, 80_000, 8_000_000], [2e-5, 2.1e-5, 5e-5, 3e-3], 2e-5, 4e-10),
    "old_weights": lambda: show.old_weights(2),
    "predict": lambda: show.predict(
        "page", "How many ms does a ring of 64 ranks take, with 16 MB on each of them?", "ms"
    ),
    "processors": show.processors,
    "product_by_tiles": show.product_by_tiles,
    "race": show.race,
    "reconcile": lambda: show.reconcile("page", 3.0, 4.0),
    "registers": lambda: show.registers(innermost_loops(ASSEMBLY.read_text())[0]),
    "ring": lambda: show.ring(8),
    "roofline": lambda: show.roofline(
        1e11, {"L1": 2e11, "memory": 2e10}, {"dot": (2e6, 8e6, 5e-4), "matmul": (2e9, 1e7)}
    ),
    "routed_text": lambda: show.routed_text(MixtureGPT(4)),
    "sgd_map": show.sgd_map,
    "survey": lambda: show.survey(SERVER),
    "survey of little": lambda: show.survey(BARE),
    "tasks": lambda: show.tasks(TRAINING, workers=2),
    "tensor_core": show.tensor_core,
    "timeline": lambda: show.timeline(ring_trace(4)),
    "warp": lambda: show.warp(launch(halves, 1, 32, np.zeros(32, np.float32), record=(0, 0))),
    "xray": lambda: show.xray(dyed := dye(ring_all_reduce, ranks=4, steps=True), total(dyed)),
}


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
