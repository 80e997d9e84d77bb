"""The figures of the lesson on mixtures of experts."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
import torch

from lockstep.experts.collapse import recorded
from lockstep.experts.gpt import MixtureGPT
from lockstep.experts.models_table import MODELS, find, short
from lockstep.experts.training import routed
from lockstep.show import active_and_total, expert_shares, flop_shares, routed_text

SVG = "{http://www.w3.org/2000/svg}"


def bars(drawing: str) -> list[tuple[str, float]]:
    """The titled bars, and how wide each is."""
    found = ElementTree.fromstring(drawing).iter(f"{SVG}rect")
    return [(e[0].text or "", float(e.get("width", 0))) for e in found if len(e)]


def test_shares_of_flops_are_as_wide_as_they_are() -> None:
    widths = dict(bars(flop_shares(("175B",)).svg()))
    assert len(widths) == 8
    counted, notes = (
        [w + 1 for name, w in widths.items() if f", {who}: " in name and ("FFN" in name or "projections" in name)]
        for who in ("counted", "a slide")
    )
    assert abs(counted[1] / counted[0] - 2) < 0.01
    assert abs(notes[1] / notes[0] - 80 / 17) < 0.05


def test_flop_shares_say_their_numbers() -> None:
    words = flop_shares(("175B",)).caption()
    assert "175B: 32, 65, 3, 0; a slide 17, 80, 3, 0" in words


def test_a_row_for_each_mixture_with_both_numbers() -> None:
    figure = active_and_total()
    told = "".join(ElementTree.fromstring(figure.svg()).itertext())
    for model in MODELS:
        assert f"{model.name}, {model.year}" in told
        assert f"{short(model.active)} of {short(model.total)}" in figure.caption()


def test_a_share_of_one_in_23_is_no_bar_of_nearly_the_same_length() -> None:
    """Bars on a logarithmic axis: 4.3 % of Maverick's parameters took 88 % of the bar. Now they are two dots."""
    drawing = ElementTree.fromstring(active_and_total([find("LLaMA-4 Maverick")]).svg())
    assert not [e for e in drawing.iter(f"{SVG}rect") if e.get("class") != "ls-paper"]
    total, active = [float(e.get("cx", 0)) for e in drawing.iter(f"{SVG}circle")][2:]
    places = {e.text: float(e.get("x", 0)) for e in drawing.iter(f"{SVG}text")}
    decade = (places["1 T"] - places["1 B"]) / 3
    assert (total - active) / decade == pytest.approx(1.37, abs=0.01), "400 B is 10^1.37 times 17 B"


def test_every_byte_stands_once_in_the_line_of_its_expert() -> None:
    model = MixtureGPT(4)
    figure = routed_text(model, pieces=1)
    _, chosen = routed(model)
    said = re.findall(r": expert (\d)<", figure.svg())
    assert [said.count(f"{e}") for e in range(4)] == torch.bincount(chosen[0], minlength=4).tolist()
    assert f"expert 0 {int((chosen[0] == 0).sum())}" in figure.caption()


def test_experts_are_told_apart_without_colour() -> None:
    figure = expert_shares()
    lines = {
        (e.get("stroke"), e.get("stroke-dasharray"))
        for e in ElementTree.fromstring(figure.svg()).iter(f"{SVG}path")
        if e.get("stroke") and e.get("fill") in (None, "none") and float(e.get("stroke-width", 0)) > 2
    }
    assert len({dashes for _, dashes in lines}) == 4
    assert "without the loss 100 %, with the loss 35 %" in figure.caption()
    assert "dense" not in figure.caption()


def test_shares_of_another_training() -> None:
    few = [m for m in recorded() if m.way == "with"]
    assert "without" not in expert_shares(few).caption()
