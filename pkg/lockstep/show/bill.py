"""bill(): what a training costs, part by part, for two plans one under the other."""

from __future__ import annotations

from collections.abc import Mapping

from lockstep.show import palette, svg
from lockstep.show.figure import Picture
from lockstep.show.quantities import money

HIGH, PITCH, LEFT = 26.0, 62.0, 14.0
FILLS = tuple(palette.COLOURS[kind] for kind in ("compute", "barrier", "broadcast", "all_reduce", "gather"))


def bill(bills: Mapping[str, Mapping[str, float]], head: str) -> Picture:
    """``bills``: by name of a plan, the dollars of each part, in the same order for all; drawn on one scale."""
    most = max(sum(parts.values()) for parts in bills.values())
    scale = (svg.WIDTH - 2 * LEFT) / most
    body, told, y = svg.heading(LEFT, 24, head), list[str](), 62.0
    for name, parts in bills.items():
        total, x = sum(parts.values()), LEFT
        body.append(svg.text(LEFT, y - 6, f"{name}: {money(total)}"))
        for fill, (part, dollars) in zip(FILLS, parts.items(), strict=False):
            words = f"{part}: {money(dollars)}"
            body.append(svg.bar(x, y, dollars * scale, HIGH, dollars, svg.title(words), fill=fill))
            x += dollars * scale
        shown = "; ".join(f"{part} {money(dollars)}" for part, dollars in parts.items())
        told.append(f"{name}: {money(total)}: {shown}")
        y += PITCH
    x = LEFT
    for fill, part in zip(FILLS, next(iter(bills.values())), strict=False):
        body += [svg.element("rect", x=x, y=y - 14, width=12, height=12, fill=fill), svg.text(x + 17, y - 4, part)]
        x += 34 + svg.length(part)
    words = ". ".join(told)
    return Picture(svg.document(svg.WIDTH, y + 12, head, words, body), f"{head}. {words}.")
