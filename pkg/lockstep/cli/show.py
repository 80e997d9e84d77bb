"""``lockstep show``: a trace file as a page with the timeline, and in the terminal what it shows."""

from __future__ import annotations

import argparse
import json
import webbrowser
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from lockstep.chrome_traces.findings import Findings, Use, findings
from lockstep.chrome_traces.spans import Recording, recording
from lockstep.show import trace_file
from lockstep.show.document import document, save
from lockstep.show.quantities import count, nbytes, seconds

MOST_LANES = 16  # rows of the table
LONGEST_NAME = 72  # characters of a kernel's


def show(args: argparse.Namespace) -> int:
    file = Path(args.file)
    read = recording(file)
    found = findings(read)
    if args.json:
        print(json.dumps(plain(read, found), indent=2))
        if not args.html and not args.open:
            return 0
    text = summary(read, found)
    page = Path(args.html) if args.html else file.with_name(f"{stem(file.name)}.html")
    save(document(file.name, trace_file(read), text), page)
    if not args.json:
        print(f"{text}\n\n{page}: open it in a browser; it needs no network.")
    if args.open:
        webbrowser.open(page.resolve().as_uri())
    return 0


def stem(name: str) -> str:
    """``a.pt.trace.json.gz`` → ``a.pt.trace``."""
    return name.removesuffix(".gz").removesuffix(".json")


def plain(of: Recording, found: Findings) -> dict[str, object]:
    return {"file": of.name, "events": of.events, "spans": len(of.spans), "seconds": of.total, **asdict(found)}


def summary(of: Recording, found: Findings) -> str:
    """All that was found, in tables. Times in which several things happened count once."""
    parts = [head(of), *([table(uses(found.uses, of))] if found.uses else [])]
    if found.longest:
        rows = [(seconds(one.seconds), count(one.number, "time"), shortened(one.name)) for one in found.longest]
        parts.append(f"Took longest, without what happened within it:\n{table(rows)}")
    if found.communication:
        parts.append(f"Communication:\n{table(communication(found))}")
    return "\n\n".join(parts)


def head(of: Recording) -> str:
    whom = f" of rank {of.rank}" if of.rank is not None else ""
    where = f", {of.run.ranks} ranks on {of.run.cluster or of.run.world}" if of.run else ""
    told = [f"{of.name}{whom}{where}: {count(len(of.spans), 'span')} in {seconds(of.total)}"]
    if not of.spans:
        told = [f"{of.name}: {count(of.events, 'event')}, and none that lasts for any time"]
    if of.unended:
        told.append(
            f"{count(of.unended, 'span')} had begun, and the file has no end of {'it' if of.unended == 1 else 'them'}"
        )
    if not of.whole:
        told.append("the file ends before its list does: whoever wrote it was stopped")
    return ". ".join(told) + "."


def uses(found: Sequence[Use], of: Recording) -> Iterable[tuple[str, ...]]:
    """A row for each thread and stream, or rank: the streams first to go into the table."""
    yield "", "spans", "computes", "communicates", "idle"
    chosen = sorted(found, key=lambda one: (not one.lane.is_stream, one.idle))[:MOST_LANES]
    for one in found:
        if any(one is other for other in chosen):
            idle = f"{one.idle / of.total:.0%}" if of.total else ""
            yield (
                shortened(one.lane.name, 44),
                f"{one.spans:,}",
                seconds(one.computing),
                seconds(one.communicating),
                idle,
            )
    if len(found) > len(chosen):
        yield f"and {len(found) - len(chosen):,} more", "", "", "", ""


def communication(found: Findings) -> Iterable[tuple[str, ...]]:
    yield "", "number", "bytes", "time", "hidden behind computing"
    for one in found.communication:
        hidden = f"{one.hidden / one.seconds:.0%}" if one.seconds else ""
        yield one.kind, f"{one.number:,}", nbytes(one.nbytes) if one.nbytes else "?", seconds(one.seconds), hidden


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns of equal width; the first and the last are flush left."""
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  " + "  ".join(
            cell.ljust(width) if i in (0, len(widths) - 1) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )  # fmt: skip


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
