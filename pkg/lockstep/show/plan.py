"""plan(): a model's training on a cluster, planned: sliders for model, cluster, axes and precision, without a kernel.

    PlanExplorer    the figure: every job that its sliders select was planned ahead
    draw            its still picture: seconds and bytes of the best plan, and all plans by memory and time

All numbers are those of ``lockstep plan`` (see ``plan_fields``). A plan that was not computed ahead is named, with the
command that answers it; a plan that is none is refused with its rule.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from lockstep.errors import UsageError
from lockstep.planner import answers, clusters, models, stacks
from lockstep.planner.clusters import PRECISIONS
from lockstep.planner.memory import KINDS
from lockstep.planner.plans import RECOMPUTE, Job
from lockstep.planner.search import fits
from lockstep.planner.step import Estimate
from lockstep.show import palette, quantities, svg
from lockstep.show.figure import Drawn, script
from lockstep.show.plan_fields import AXES, FEW, GB, LOOKED_AT, MANY, Field, Stops, field_of, packed, parts

MODELS = ("gpt3-175b", "llama3-8b", "llama3-70b", "llama3-405b", "deepseek-v3", "gpt-oss-120b")
CLUSTERS = {"dgx-a100": ("bf16",), "dgx-h100": ("bf16", "fp8"), "gb200-nvl72": ("bf16", "nvfp4")}  # and precisions
GPUS = (64, 256, 1024)
FIRST = ("llama3-70b", "dgx-h100", 256, "bf16")

_OF = palette.COLOURS
TIME_COLOURS = {
    "compute": _OF["compute"], "recomputation": _OF["gather"], "waiting for hosts": _OF["barrier"],
    "bubble": _OF["broadcast"], "dp": _OF["reduce_scatter"], "tp": _OF["all_reduce"], "pp": _OF["send"],
    "cp": _OF["all_gather"], "ep": _OF["all_to_all"], "optimizer": _OF["reduce"],
}  # fmt: skip
MEMORY_COLOURS = {
    "weights": palette.MEMORY["parameters"], "gradients": palette.MEMORY["gradients"],
    "optimizer": palette.MEMORY["optimizer state"], "activations": palette.MEMORY["activations"],
    "logits": _OF["gather"], "buffers": palette.MEMORY["buffers"], "runtime": _OF["barrier"],
}  # fmt: skip
FITS, TOO_LARGE = palette.ROLES["right"], palette.ROLES["wrong"]  # both stand out from a light and from a dark card
DOT, DASH = {"d": "h0", "width": 5}, {"d": "h4", "width": 1.6}  # a plan that fits, and one that does not


@dataclass(frozen=True)
class Asked:
    """One stop of all of the first sliders: a job, and how ``lockstep plan`` is asked for it."""

    model: str
    cluster: str
    gpus: int
    precision: str
    field: Field | None
    command: str
    refused: str = ""  # why there is no field

    @property
    def title(self) -> str:
        return f"{self.model} on {quantities.count(self.gpus, 'GPU')} of {self.cluster}, {self.precision}"

    @property
    def stops(self) -> tuple[str, str, int, str]:
        return self.model, self.cluster, self.gpus, self.precision


class PlanExplorer(Drawn):
    """``asked``: what the sliders select, and ``first``, what they stand at. See ``plan``."""

    module = script("plan")
    label = "Plans of a training run"

    def __init__(self, asked: Sequence[Asked], first: Asked) -> None:
        self.asked, self.first = asked, first

    def state(self) -> dict[str, Any]:
        choices = [list(dict.fromkeys(column)) for column in zip(*(one.stops for one in self.asked), strict=True)]
        known = {one.stops: one for one in self.asked}
        return {
            "label": self.label,
            "choices": choices,
            "at": [choice.index(stop) for choice, stop in zip(choices, self.first.stops, strict=True)],
            "jobs": [_job(known[stops]) for stops in product(*choices)],
            "axes": AXES,
            "looked_at": LOOKED_AT,
            "gb": GB,
            "recompute": RECOMPUTE,
            "times": TIME_COLOURS,
            "kinds": MEMORY_COLOURS,
            "points": [FITS, TOO_LARGE],
            "marks": [DOT, DASH],
            "area": [LEFT, RIGHT, TOP, BOTTOM],
        }

    def svg(self) -> str:
        return draw(self.first)

    def caption(self) -> str:
        return f"{self.label}. {words(self.first)}"

    def page(self) -> str:
        """The figure as a page of its own, which needs neither network nor kernel."""
        head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{self.label}</title><body>'
        return f"{head}{self.html()}</body></html>\n"

    def save(self, path: str | Path) -> None:
        """Write the page. Raises UsageError where that cannot be."""
        try:
            Path(path).write_text(self.page(), encoding="utf-8")
        except OSError as error:
            told = f"The page cannot be written to {path}: {error.strerror}."
            raise UsageError(told, "Name a file in a folder that is there: plans.html.") from None


def plan(
    model: str | None = None,
    cluster: str | None = None,
    batch: int | None = None,
    seq: int | None = None,
    stack: str | None = None,
) -> PlanExplorer:
    """Plans of a training run, with sliders: ``model`` and ``cluster`` as for ``lockstep plan``, by default six models
    on three clusters of 64 to 1,024 GPUs.

    ``batch``: sequences of a step, by default of about 4 million tokens; ``seq``: tokens of a sequence; ``stack``: the
    software. For one model on one cluster more plans are computed ahead, in all precisions of its GPUs. Raises
    UsageError for a job that ``lockstep plan`` refuses.
    """
    for name, number in (("batch", batch), ("seq", seq)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise UsageError(f"{name} is a whole number from 1 on, not {number!r}.", f"Write, say, {name}=512.")
    usual = [f"{kind} x {gpus} gpus" for kind, gpus in product(CLUSTERS, GPUS)]
    places = usual if cluster is None else [cluster]
    given = Given(batch, seq, stack)
    one = model is not None and cluster is not None
    asked = [
        _asked(given, name, place, precision, MANY if one else FEW, cluster is not None)
        for name, place in product(MODELS if model is None else (model,), places)
        for precision in PRECISIONS
    ]
    shown = {a.precision for a in asked if a.field}
    asked = [a for a in asked if a.precision in shown]
    planned = [a for a in asked if a.field]
    if not planned:
        raise UsageError("None of these models can be planned for this cluster.", "Ask for one: show.plan(model=…).")
    usually = (models.find(model or FIRST[0]).name, *FIRST[1:])
    return PlanExplorer(asked, next((a for a in planned if a.stops == usually), planned[0]))


@dataclass(frozen=True)
class Given:
    """What all jobs share: sequences of a step, tokens of a sequence, software. None: what the planner takes."""

    batch: int | None
    seq: int | None
    stack: str | None

    def command(self, model: str, place: str, job: Job) -> str:
        """How ``lockstep plan`` is asked for ``job``."""
        words = ["lockstep", "plan", "--model", model, "--cluster", place, "--batch", str(job.batch)]
        words += ["--seq", str(self.seq)] if self.seq else []
        words += ["--precision", job.precision, *(["--stack", self.stack] if self.stack else [])]
        return shlex.join(words)


def _asked(given: Given, name: str, place: str, precision: str, stops: Stops, all_precisions: bool) -> Asked:
    """What the planner says of a job: its plans, or why there are none. Of the usual clusters, few precisions are
    computed ahead. Raises UsageError for the only job that was asked for."""
    model, cluster = models.find(name, given.seq), clusters.find(place)
    batch = given.batch or answers.default_batch(cluster.gpus, model.seq)
    job, stack = Job(model, cluster, batch, precision), stacks.find(given.stack, cluster)
    field, refused = None, ""
    try:
        answers.checked(job)
        if all_precisions or precision in CLUSTERS[cluster.name]:
            field = field_of(job, stack, stops)
    except UsageError as error:
        if stops is MANY and cluster.gpu.peak(precision):
            raise
        refused = error.message
    command = given.command(name, place, job)
    return Asked(model.name, cluster.name, cluster.gpus, precision, field, command, refused)


def _job(asked: Asked) -> dict[str, Any]:
    """A job for the page: its plans, or why there are none, if there is a reason."""
    about = {"title": asked.title, "command": asked.command, "gpus": asked.gpus}
    if asked.field is None:
        return about | {"refused": asked.refused}
    x, y = scales(asked.field)
    return about | packed(asked.field) | {"x": x.to_json(quantities.nbytes), "y": y.to_json(quantities.seconds)}


WIDTH = svg.WIDTH
LEFT, RIGHT, TOP, BOTTOM = 66.0, 512.0, 34.0, 250.0  # of the plans, all of them
BARS, EDGE, BAR = 132.0, 526.0, 18.0  # where bars begin and end, and how high they are


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis."""

    low: float
    high: float

    def share(self, value: float) -> float:
        return math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """1, 2 and 5 times powers of ten, or fewer of them if they are many; round numbers if they are few."""
        for steps in ((1, 2, 5), (1, 3), (1,)):
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            found = [t for n in powers for step in steps if self.low <= (t := step * 10.0**n) <= self.high]
            if len(found) <= 7:
                break
        return found if len(found) > 2 else quantities.ticks(self.low, self.high, 4)

    def to_json(self, told: Any) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "ticks": [[float(f"{t:.6g}"), told(t)] for t in self.ticks()]}


def scales(field: Field) -> tuple[Scale, Scale]:
    """Of bytes and of seconds: all plans, and the capacity."""
    sizes = [f.memory for f in field.found] + [field.job.cluster.gpu.memory]
    times = [f.step_time for f in field.found]
    return Scale(min(sizes) / 1.2, max(sizes) * 1.25), Scale(min(times) / 1.2, max(times) * 1.2)


def words(asked: Asked) -> str:
    """The figure for those who do not see it."""
    field = asked.field
    assert field is not None
    best = answers.described(field.job, field.found[field.best], None)
    axes = ", ".join(f"{axis}={best[axis]}" for axis in ("dp", "tp", "pp", "vp", "cp", "ep", "zero", "micro_batch"))
    told = (
        f"{asked.title}: the best of {field.searched:,} plans is {axes}, recompute={best['recompute']}"
        if field.best_fits
        else f"{asked.title}: no plan fits; the leanest"
    )
    if best["reason"]:
        return f"{told}. {best['reason']}"
    has = quantities.nbytes(field.job.cluster.gpu.memory)
    low, high = quantities.seconds(best["step_time_low"]), quantities.seconds(best["step_time_high"])
    return (
        f"{told}. A step takes {quantities.seconds(best['step_time'])}, likely {low} to {high}. "
        f"It needs {quantities.nbytes(best['memory'])} of {has}; "
        f"its bubble is {100 * best['bubble']:.0f} %, its MFU {100 * best['mfu']:.0f} %."
    )


def draw(asked: Asked) -> str:
    """The best plan's bars, with what they are made of, above all plans."""
    field = asked.field
    assert field is not None
    best = field.found[field.best]
    named = "the best plan" if field.best_fits else "the leanest plan"
    lines = svg.wrapped(asked.title, WIDTH - 28, 14)
    y = 48.0 + 18 * len(lines)
    body = [svg.text(14, 26 + 18 * i, line, 14, font_weight=600) for i, line in enumerate(lines)]
    body.append(
        svg.faint(14, y - 21, f"{field.job.batch:,} sequences of {field.job.model.seq:,} tokens a step; {named}")
    )
    seconds = {name: t for name, t in zip(TIME_COLOURS, (best.computing, *parts(best)), strict=True) if t}
    y = _panel(body, y, "Time of a step", quantities.seconds(best.step_time), seconds, TIME_COLOURS, best.step_time)
    capacity = field.job.cluster.gpu.memory
    held = {kind: best.memory_by_kind[kind] for kind in KINDS if best.memory_by_kind[kind]}
    most = max(capacity, best.memory) * 1.02
    line = BARS + (EDGE - BARS) * capacity / most
    body.append(svg.line(line, y + 8, line, y + 12 + BAR, stroke=TOO_LARGE, stroke_width=2))
    anchor = "end" if line > 260 else "start"
    body.append(svg.text(line, y + 4, f"capacity {quantities.nbytes(capacity)}", text_anchor=anchor))
    y = _panel(body, y, "Memory", quantities.nbytes(best.memory), held, MEMORY_COLOURS, most)
    body.append(svg.element("g", *_scatter(field), transform=f"translate(0,{y:g})"))
    return svg.document(WIDTH, y + 294, PlanExplorer.label, words(asked), body)


def _panel(
    body: list[str], y: float, name: str, told: str, values: dict[str, float], colours: dict[str, str], whole: float
) -> float:
    """A bar of ``values`` from zero to ``whole``, and its legend, put into ``body``; where the next panel begins."""
    memory = colours is MEMORY_COLOURS
    body += [svg.text(14, y + 4, name, font_weight=600), svg.text(14, y + 23, told)]
    x = BARS
    for part, value in values.items():
        width = (EDGE - BARS) * value / whole
        said = quantities.nbytes(value) if memory else quantities.seconds(value)
        body.append(svg.element("rect", svg.title(f"{part}: {said}"), x=x, y=y + 10, width=width, height=BAR,
                                fill=colours[part], class_="ls-swatch", data_value=100 * value / whole))  # fmt: skip
        x += width
    x, y = 14.0, y + 46
    for part, value in values.items():
        said = f"{part} {quantities.nbytes(value) if memory else quantities.seconds(value)}"
        if x + 18 + 7 * len(said) > EDGE:
            x, y = 14.0, y + 18
        body.append(svg.element("rect", x=x, y=y - 10, width=11, height=11, fill=colours[part], class_="ls-swatch"))
        body.append(svg.text(x + 16, y, said))
        x += 30 + 7 * len(said)
    return y + 26


def _scatter(field: Field) -> Iterator[str]:
    across, down = scales(field)
    capacity = LEFT + (RIGHT - LEFT) * across.share(field.job.cluster.gpu.memory)

    fitting = [fits(field.job, f) for f in field.found]

    def place(found: Estimate) -> tuple[float, float]:
        x, y = across.share(found.memory), down.share(found.step_time)
        return round(LEFT + (RIGHT - LEFT) * x), round(BOTTOM - (BOTTOM - TOP) * y)

    yield svg.lane(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
    yield svg.text(14, 10, f"{len(field.found):,} plans: time of a step, by memory of the fullest GPU", font_weight=600)
    yield svg.line(capacity, TOP - 6, capacity, BOTTOM, stroke=TOO_LARGE, stroke_width=2)
    yield svg.text(capacity - 6, TOP - 6, "fits", text_anchor="end")
    if capacity < RIGHT - 50:
        yield svg.text(capacity + 6, TOP - 6, "does not")
    for tick in across.ticks():
        x = LEFT + (RIGHT - LEFT) * across.share(tick)
        yield svg.faint(x, BOTTOM + 17, quantities.nbytes(tick), text_anchor="middle")
    for tick in down.ticks():
        yield svg.faint(LEFT - 7, BOTTOM - (BOTTOM - TOP) * down.share(tick) + 4, quantities.seconds(tick),
                        text_anchor="end")  # fmt: skip
    for there, colour, mark in ((True, FITS, DOT), (False, TOO_LARGE, DASH)):
        some = sorted({place(f) for f, fit in zip(field.found, fitting, strict=True) if fit == there})
        yield svg.element("path", d="".join(f"M{x:.0f},{y:.0f}{mark['d']}" for x, y in some), fill="none",
                          stroke=colour, stroke_linecap="round", stroke_width=mark["width"])  # fmt: skip
    x, y = place(field.found[field.best])
    yield svg.element("circle", cx=x, cy=y, r=8, fill="none", stroke=palette.INK, stroke_width=2, class_="ls-line")
    yield svg.faint(LEFT, BOTTOM + 36, f"Ring: the {'best' if field.best_fits else 'leanest'} plan. Both scales are "
                    "logarithmic.")  # fmt: skip
