"""Cache misses as a picture: one bar, divided by array, with a mark at the most that is allowed."""

from __future__ import annotations

from collections.abc import Mapping

from lockstep.show import palette, svg

LEFT, RIGHT, TOP, HEIGHT, WIDTH = 14.0, 500.0, 58.0, 30.0, svg.WIDTH
COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#A24D85")


def draw_misses(misses: Mapping[str, int], allowed: float) -> str:
    """``misses``: array → how often the cache did not have its line. ``allowed``: the budget for all together."""
    total = sum(misses.values())
    scale = (RIGHT - LEFT) / max(total, allowed, 1)
    head = f"{total:,} misses, {allowed:,.0f} allowed"
    told = ", ".join(f"{name} {number:,}" for name, number in misses.items())
    body = [svg.text(LEFT, 24, head, 14, font_weight=600), svg.faint(LEFT, 43, told, 12)]
    x = LEFT
    for number, (name, count) in enumerate(sorted(misses.items())):
        width, fill = count * scale, COLOURS[number % len(COLOURS)]
        block = svg.element(
            "rect", x=x, y=TOP, width=width, height=HEIGHT, fill=fill, stroke=palette.INK, stroke_width=0.6
        )
        room = width > 9 * len(name)
        label = svg.text(x + width / 2, TOP + 20, name, 12, fill=palette.text_on(fill), text_anchor="middle")
        body.append(svg.element("g", svg.title(f"{name}: {count:,}"), block, label if room else ""))
        x += width
    edge = LEFT + allowed * scale
    body += [
        svg.line(edge, TOP - 6, edge, TOP + HEIGHT + 6, stroke_width=2, stroke_dasharray="4 3"),
        svg.faint(edge, TOP + HEIGHT + 20, "allowed", text_anchor="middle" if edge < RIGHT - 30 else "end"),
    ]
    return svg.document(WIDTH, TOP + HEIGHT + 30, head, told, body)
