"""All nodes that can be reached in a graph, for many beginnings: circles are found once (Tarjan, 1972)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


class Reach:
    def __init__(self, edges: Callable[[str], Iterable[str]]) -> None:
        self.edges = edges
        self.nodes: list[str] = []  # bit i of a mask is the i-th
        self.place: dict[str, int] = {}
        self.masks: dict[str, int] = {}

    def of(self, start: Iterable[str]) -> list[str]:
        """All that ``start`` leads to, and itself."""
        mask = 0
        for node in start:
            if node not in self.masks:
                self._visit(node)
            mask |= self.masks[node]
        return [self.nodes[i] for i in bits(mask)]

    def _visit(self, root: str) -> None:
        low: dict[str, int] = {}
        order: dict[str, int] = {}
        circle: list[str] = []
        waiting: list[tuple[str, Iterator[str]]] = []

        def enter(node: str) -> None:
            order[node] = low[node] = len(order)
            circle.append(node)
            self.place[node] = len(self.nodes)
            self.nodes.append(node)
            waiting.append((node, iter(sorted(self.edges(node)))))

        enter(root)
        while waiting:
            node, others = waiting[-1]
            for other in others:
                if other in self.masks:
                    continue
                if other not in order:
                    enter(other)
                    break
                low[node] = min(low[node], order[other])
            else:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[node])
                if low[node] == order[node]:
                    self._close(circle, circle.index(node))

    def _close(self, circle: list[str], begin: int) -> None:
        """The nodes from ``begin`` on reach each other: all have one mask."""
        members = circle[begin:]
        del circle[begin:]
        mask = 0
        for node in members:
            mask |= 1 << self.place[node]
        for node in members:
            for other in self.edges(node):
                mask |= self.masks.get(other, 0)
        self.masks.update(dict.fromkeys(members, mask))


def bits(mask: int) -> list[int]:
    """The places of its ones."""
    return [place for place, bit in enumerate(bin(mask)[:1:-1]) if bit == "1"]
