"""tasks(): a task graph with its critical path, and a schedule of it on some workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.cost.tasks import Task, critical_path, earliest_ends, minutes_on, schedule, work
from lockstep.show import motion, palette, svg
from lockstep.show.player import Player, Sheet, Slider, with_clock

LEFT, TOP = 8.0, 44.0
BOX, TALL, ROW = 68.0, 26.0, 34.0
LANES, LANE, PITCH = 86.0, 20.0, 25.0  # where the workers' lanes begin
MOST = 6  # workers of the slider
CRITICAL, OTHER = palette.ROLES["marked"], palette.ROLES["work"]


class Tasks(Player):
    """With ``workers`` their lanes are below the tasks, and a slider changes how many there are. See ``tasks``."""

    label = "Tasks that wait for each other"
    pause = 700

    def __init__(self, job: Sequence[Task], workers: int | None) -> None:
        self.job, self.workers = tuple(job), workers
        sheet = _sheet(self.job, workers)
        super().__init__(sheet.frames, sheet.captions, moments=sheet.moments)

    def caption(self) -> str:
        return f"{self.label}. {self.captions[-1]}"

    def sliders(self) -> Sequence[Slider]:
        if self.workers is None:
            return ()
        return (Slider("workers", [str(s) for s in self._choices()], self._choices().index(self.workers)),)

    def sheets(self) -> Sequence[Sheet]:
        if self.workers is None:
            return super().sheets()
        return [_sheet(self.job, s) for s in self._choices()]

    def _choices(self) -> list[int]:
        return sorted({*range(1, MOST + 1), self.workers or 1})


def tasks(job: Sequence[Task], workers: int | None = None) -> Tasks:
    """``job``'s tasks with the minutes of each, and an arrow to each from those that it waits for. With ``workers`` the
    critical path is marked, and below is who does what when. Raises UsageError where tasks wait in a circle."""
    return Tasks(job, workers)


def _sheet(job: Sequence[Task], workers: int | None) -> Sheet:
    """With workers, a drawing with a clock, which stops whenever a task is done."""
    drawing, told = draw(job, workers), words(job, workers)
    if workers is None:
        return Sheet([drawing], [told])
    return with_clock(
        drawing, told, motion.moments((one.end for one in schedule(job, workers)), minutes_on(job, workers)), "minutes"
    )


def words(job: Sequence[Task], workers: int | None) -> str:
    waits = "; ".join(f"{t.name} ({t.minutes:g}) after {', '.join(t.after) or 'nothing'}" for t in job)
    told = f"{len(job)} tasks, {work(job):g} minutes of work: {waits}."
    if workers is None:
        return told
    path = critical_path(job)
    longest = max(earliest_ends(job).values(), default=0.0)
    return (
        f"{_many(workers)}: {minutes_on(job, workers):g} minutes. The critical path takes {longest:g}: "
        f"{', '.join(path)}. {told}"
    )


def draw(job: Sequence[Task], workers: int | None) -> str:
    """The whole figure."""
    places = _places(job)
    below = max((y for _, y in places.values()), default=TOP) + ROW + 14
    head = f"{len(job)} tasks, {work(job):g} minutes of work"
    body = [svg.text(LEFT, 22, head, 14, font_weight=600), *_graph(job, places, workers is not None)]
    if workers is not None:
        body += _lanes(job, workers, below)
        below += 24 + PITCH * max(MOST, workers) + 20
    return svg.document(svg.WIDTH, below, head, words(job, workers), body)


def _many(workers: int) -> str:
    return "1 worker" if workers == 1 else f"{workers} workers"


def _places(job: Sequence[Task]) -> dict[str, tuple[float, float]]:
    """A task is one column to the right of the last one that it waits for."""
    column: dict[str, int] = {}
    for task in job:
        column[task.name] = max((column[name] + 1 for name in task.after), default=0)
    pitch = (svg.WIDTH - 2 * LEFT - BOX) / max(1, *column.values())
    places: dict[str, tuple[float, float]] = {}
    tallest = max((list(column.values()).count(c) for c in column.values()), default=0)
    for at in set(column.values()):
        names = [name for name, c in column.items() if c == at]
        top = TOP + (tallest - len(names)) * ROW / 2
        places |= {name: (LEFT + pitch * at, top + ROW * row) for row, name in enumerate(names)}
    return places


def _graph(job: Sequence[Task], places: dict[str, tuple[float, float]], marked: bool) -> Iterator[str]:
    path = critical_path(job) if marked else []
    for task in job:
        x, y = places[task.name]
        for name in task.after:
            from_x, from_y = places[name]
            yield svg.arrow(from_x + BOX, from_y + TALL / 2, x - 1, y + TALL / 2, head=5)
    for task in job:
        fill = CRITICAL if task.name in path else OTHER
        place = dict(zip(("x", "y", "width", "height"), (*places[task.name], BOX, TALL), strict=True))
        box = svg.element("rect", **place, rx=3, fill=fill)
        yield _block(box, *places[task.name], BOX, TALL, fill, f"{task.name} {task.minutes:g}")


def _block(box: str, x: float, y: float, width: float, height: float, fill: str, told: str) -> str:
    """A box with its name, or its minutes, if there is room."""
    fitting = next((words for words in (told, told.split()[-1]) if svg.length(words) < width), "")
    label = svg.text(x + width / 2, y + height / 2 + 4, fitting, fill=palette.text_on(fill), text_anchor="middle")
    return svg.element("g", svg.title(told), box, label if fitting else "")


def _lanes(job: Sequence[Task], workers: int, top: float) -> Iterator[str]:
    path, scale = critical_path(job), (svg.WIDTH - LANES - LEFT) / work(job)
    told = f"{_many(workers)}: {minutes_on(job, workers):g} minutes (critical path orange)"
    yield svg.text(LEFT, top + 8, told, font_weight=600)
    for worker in range(workers):
        y = top + 22 + PITCH * worker
        yield svg.text(LEFT, y + 15, f"worker {worker}")
        yield svg.lane(LANES, y, svg.WIDTH - LANES - LEFT, LANE)
    for one in schedule(job, workers):
        y, width = top + 22 + PITCH * one.worker, max(0.5, (one.end - one.start) * scale - 1)
        name = one.task.name
        fill = CRITICAL if name in path else OTHER
        x = LANES + one.start * scale
        box = svg.bar(x, y, width, LANE, one.end - one.start, rx=3, fill=fill)
        yield motion.lasting(one.start, one.end, _block(box, x, y, width, LANE, fill, name))
    yield motion.hand(LANES, scale, top + 18, top + 22 + PITCH * workers)
