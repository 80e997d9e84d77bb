"""``@pytest.mark.sampled(4)``: of a test's rows `make test` tries every fourth, and the others are slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest


def mark_the_others(items: Iterable[pytest.Item]) -> None:
    seen: Counter[str] = Counter()
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1
