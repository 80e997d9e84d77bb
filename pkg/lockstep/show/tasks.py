"""tasks(): a job as tasks that wait for each other, and who does what when on so many workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.cost.tasks import Task, critical_path, earliest_ends, minutes_on, schedule, work
from lockstep.show import palette, svg
from lockstep.show.player import Player, Sheet, Slider

LEFT, TOP = 8.0, 44.0
BOX, TALL, ROW = 68.0, 26.0, 34.0
LANES, LANE, PITCH = 86.0, 20.0, 25.0  # where the workers' lanes begin
MOST = 6  # workers of the slider
CRITICAL, OTHER = palette.COLOURS["send"], palette.COLOURS["recv"]


class Tasks(Player):
    """With ``workers`` their lanes stand below the tasks, and a slider changes how many there are. See ``tasks``."""

    label = "Tasks that wait for each other"

    def __init__(self, job: Sequence[Task], workers: int | None) -> None:
        self.job, self.workers = tuple(job), workers
        super().__init__([draw(self.job, workers)], [words(self.job, workers)])

    def sliders(self) -> Sequence[Slider]:
        if self.workers is None:
            return ()
        return (Slider("workers", [str(s) for s in self._choices()], self._choices().index(self.workers)),)

    def sheets(self) -> Sequence[Sheet]:
        if self.workers is None:
            return super().sheets()
        return [Sheet([draw(self.job, s)], [words(self.job, s)]) for s in self._choices()]

    def _choices(self) -> list[int]:
        return sorted({*range(1, MOST + 1), self.workers or 1})


def tasks(job: Sequence[Task], workers: int | None = None) -> Tasks:
    """``job``'s tasks with the minutes of each, and an arrow to each from those that it waits for. With ``workers`` the
    critical path is marked, and below stands who does what when. Raises UsageError where tasks wait in a circle."""
    return Tasks(job, workers)


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
    """A task stands one column to the right of the last one that it waits for."""
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
        yield _block(*places[task.name], BOX, TALL, fill, f"{task.name} {task.minutes:g}")


def _block(x: float, y: float, width: float, height: float, fill: str, told: str) -> str:
    block = svg.element("rect", x=x, y=y, width=width, height=height, rx=3, fill=fill)
    fitting = next((words for words in (told, told.split()[-1]) if len(words) * 6.2 < width), "")
    label = svg.text(x + width / 2, y + height / 2 + 4, fitting, fill=palette.text_on(fill), text_anchor="middle")
    return svg.element("g", svg.title(told), block, label if fitting else "")


def _lanes(job: Sequence[Task], workers: int, top: float) -> Iterator[str]:
    path, scale = critical_path(job), (svg.WIDTH - LANES - LEFT) / work(job)
    told = f"{_many(workers)}: {minutes_on(job, workers):g} minutes (critical path orange)"
    yield svg.text(LEFT, top + 8, told, font_weight=600)
    for worker in range(workers):
        y = top + 22 + PITCH * worker
        yield svg.text(LEFT, y + 15, f"worker {worker}")
        yield svg.lane(LANES, y, svg.WIDTH - LANES - LEFT, LANE)
    for one in schedule(job, workers):
        y, width = top + 22 + PITCH * one.worker, (one.end - one.start) * scale - 1
        fill = CRITICAL if one.task.name in path else OTHER
        yield _block(LANES + one.start * scale, y, width, LANE, fill, one.task.name)
