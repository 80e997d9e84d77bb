"""tests/proven.json: for each part of the tests, the hash of all that it depended on when it last passed, and the day.

One line a test module, so that proofs of two pieces of work can be merged. ``next`` is the part at which .ci/run begins
when it tries some entries anew; each time that proofs are added it moves on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proof.closure import Part


@dataclass
class Ledger:
    proofs: dict[Part, tuple[str, str]] = field(default_factory=dict)  # hash, day
    next: str = ""

    @classmethod
    def read(cls, file: Path) -> Ledger:
        if not file.exists():
            return cls()
        written = json.loads(file.read_text())
        rows = written["modules"].items()
        proofs = {Part(module, of): (hash, day) for module, row in rows for of, (hash, day) in row.items()}
        return cls(proofs, written["next"])

    def write(self, file: Path) -> None:
        modules: dict[str, dict[str, list[str]]] = {}
        for part in sorted(self.proofs, key=str):
            modules.setdefault(part.module, {})[part.of] = [*self.proofs[part]]
        rows = ",\n".join(f"{json.dumps(module)}: {json.dumps(row)}" for module, row in modules.items())
        file.write_text(f'{{"next": {json.dumps(self.next)},\n"modules": {{\n{rows}\n}}}}\n')

    def proves(self, part: Part, hash: str) -> bool:
        return self.proofs.get(part, ("", ""))[0] == hash

    def day(self, part: Part) -> str:
        """When it was last proven, in whatever state; "" for never."""
        return self.proofs.get(part, ("", ""))[1]

    def add(self, hashes: Mapping[Part, str], day: str, again: int = 5) -> None:
        if not hashes:
            return
        self.proofs |= {part: (hash, day) for part, hash in hashes.items()}
        turn = self.in_rotation(again + 1)
        self.next = str(turn[-1]) if turn else ""

    def keep(self, parts: Iterable[Part]) -> None:
        """Without what is no part any more."""
        there = {*parts}
        self.proofs = {part: proof for part, proof in self.proofs.items() if part in there}

    def in_rotation(self, count: int) -> list[Part]:
        """So many entries, from ``next`` on, in the ledger's own order."""
        parts = sorted(self.proofs, key=str)
        begin = next((i for i, part in enumerate(parts) if str(part) >= self.next), 0)
        return [*parts[begin:], *parts[:begin]][:count]
