"""The files of a checkout by path, each with the id that git gives its content."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Tree:
    """``ids``: path below the root → id of the content. ``read`` gives the content of a path."""

    ids: Mapping[str, str]
    read: Callable[[str], bytes] = field(repr=False)

    def under(self, folder: str) -> Iterator[str]:
        return (path for path in self.ids if path.startswith(f"{folder}/"))

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Tree:
        return cls({path: content_id(content) for path, content in files.items()}, files.__getitem__)

    @classmethod
    def working(cls, root: Path) -> Tree:
        """As it lies here, files that git does not know yet included."""
        listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")
        return cls.of({path: (root / path).read_bytes() for path in sorted({*listed}) if (root / path).is_file()})

    @classmethod
    def at(cls, root: Path, commit: str) -> Tree:
        rows = _git(root, "ls-tree", "-r", "-z", "--full-tree", commit).decode().split("\0")
        ids = {path: meta.split()[2] for meta, _, path in (row.partition("\t") for row in rows if row)}
        contents = cache(lambda: _contents(root, sorted({*ids.values()})))  # seldom asked for: names are kept
        return cls(ids, lambda path: contents()[ids[path]])


def content_id(content: bytes) -> str:
    """As ``git hash-object`` has it."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _contents(root: Path, ids: list[str]) -> dict[str, bytes]:
    told = _git(root, "cat-file", "--batch", stdin="\n".join(ids).encode() + b"\n")
    found, place = {}, 0
    for id in ids:
        end = told.index(b"\n", place)
        size = int(told[place:end].split()[2])
        found[id] = told[end + 1 : end + 1 + size]
        place = end + size + 2
    return found


def _git(root: Path, *words: str, stdin: bytes | None = None) -> bytes:
    return subprocess.run(["git", *words], cwd=root, input=stdin, capture_output=True, check=True).stdout
