"""A frozen dataclass that computes its hash once: models, clusters and stacks are keys of the planner's caches, and
have dozens of fields."""

from __future__ import annotations

from typing import Any, TypeVar

Class = TypeVar("Class")


def hashed_once(cls: type[Class]) -> type[Class]:
    """``cls``, a frozen dataclass, with its hash kept. It does not travel: another process hashes strings otherwise."""
    computed = cls.__hash__

    def kept(self: Any) -> int:
        known: dict[str, Any] = self.__dict__
        if "_hash" not in known:
            known["_hash"] = computed(self)
        found: int = known["_hash"]
        return found

    def without(self: Any) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    cls.__hash__ = kept  # type: ignore[method-assign]
    cls.__getstate__ = without  # type: ignore[method-assign]
    return cls
