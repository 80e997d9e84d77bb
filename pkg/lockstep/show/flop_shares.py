"""flop_shares(): where a transformer's FLOPs go as it grows: counted, and below it as the lecture notes have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.experts.flops import NOTES, OPT, OPT_CONTEXT, OPT_VOCABULARY, dense_flops
from lockstep.show import palette, svg
from lockstep.show.figure import Picture

PARTS = ("projections", "FFN", "attention", "logits")
FILLS = palette.SHADES
LEFT, RIGHT, TOP = 118.0, 16.0, 66.0
BAR, GAP, GROUP = 19.0, 3.0, 56.0
NARROW = 22.0  # pixels that a number needs


def flop_shares(sizes: Sequence[str] = ("760M", "2.7B", "13B", "175B")) -> Picture:
    """Two bars for each OPT model, of 100 % each: projections, FFN, attention and logits, in this order."""
    body = [
        svg.text(14, 24, "Where the FLOPs of a token go, per cent", 14, font_weight=600),
        *_legend(),
        *(part for n, name in enumerate(sizes) for part in _pair(name, TOP + n * GROUP)),
    ]
    told = words(sizes)
    return Picture(svg.document(svg.WIDTH, TOP + len(sizes) * GROUP, "Shares of FLOPs", told, body), told)


def counted(name: str) -> list[float]:
    return dense_flops(*OPT[name], OPT_CONTEXT, OPT_VOCABULARY).shares


def words(sizes: Sequence[str]) -> str:
    told = [f"{name}: {_told(counted(name))}; a slide {_told(NOTES[name])}" for name in sizes]
    return f"Shares of projections, FFN, attention and logits in a token’s FLOPs, per cent. {'. '.join(told)}."


def _told(shares: Sequence[float]) -> str:
    return ", ".join(f"{share:.0f}" for share in shares)


def _legend() -> Iterator[str]:
    for x, part, fill in zip((14.0, 126.0, 196.0, 302.0), PARTS, FILLS, strict=True):
        yield svg.element("rect", x=x, y=37.0, width=12.0, height=12.0, rx=2, fill=fill)
        yield svg.text(x + 18, 47.5, part)
    yield svg.faint(378, 47.5, "always in this order")


def _pair(name: str, y: float) -> Iterator[str]:
    yield svg.text(14, y + 26, name, 13, font_weight=600)
    for n, (who, shares) in enumerate((("counted", counted(name)), ("a slide", NOTES[name]))):
        top, x = y + n * (BAR + GAP), LEFT
        yield svg.text(LEFT - 8, top + 14, who, text_anchor="end")
        for part, share, fill in zip(PARTS, shares, FILLS, strict=True):
            width = (svg.WIDTH - LEFT - RIGHT) * share / sum(shares)
            said = svg.title(f"{name}, {who}: {part} {share:.3g} %")
            yield svg.bar(x, top, max(0.5, width - 1), BAR, 100 * share / sum(shares), said, fill=fill)
            if width > NARROW:
                ink = palette.text_on(fill)
                yield svg.text(x + width / 2, top + 14, f"{share:.0f}", text_anchor="middle", fill=ink)
            x += width
