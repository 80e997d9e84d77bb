"""From a test to all files that it depends on, read from sources alone: no module is imported.

A source leads on to the modules that it imports, at once or when it is called, and to what its strings name: a module
("lockstep.x:y"), an exercise ("communication.ping_pong"), a unit ("04_communication"), a file or folder, a pattern of
``glob``. A lazy face (a module with ``__getattr__``) leads only to what its importer takes from it by name. A folder
stands for all that lies in it. What a source reads and does not name, a test module declares:

    pytestmark = pytest.mark.reads("docs/", "course/")      of all that there is: reads("**")

Three things are data that somebody else names. An exercise's folder: whoever names the exercise depends on it, and on
its reference; whoever calls ``exercises()``, on all. A unit: ``course/``, ``labs/`` and ``solutions/`` of it, what is
behind its lesson, and its exercises. A figure that a result shows when it is asked to (the one declared exception of
tests/test_layers.py): for tests that say ``show``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

from proof.names import Names, imports_alone, names
from proof.reach import Reach
from proof.tree import Tree

EVERYTHING = ("tests/conftest.py", "constraints.txt", "pyproject.toml", ".ci/run")  # each test depends on them
PACKAGE, EXERCISES, LESSONS = "pkg/lockstep", "pkg/lockstep/exercises", "pkg/lockstep/lessons"
WHEN_SHOWN = (f"{PACKAGE}/worlds.py", f"{PACKAGE}/show/")
LABS = "tests/grading/test_labs.py"  # it runs a unit's lab
LEDGER = "tests/proven.json"  # no test depends on it: to note a proof makes nothing else unproven
WHOLE = ("course", "labs", "solutions", "pkg", PACKAGE, EXERCISES, "tests")  # meant by "course/", and not by "course"
SWEEP = {"exercises", "check_all"}  # whoever calls these depends on all exercises
SWEEP_UNITS = {"UNITS", "units"}  # and whoever goes through these, on all units
MANY = 20  # exercises that a module names: more are a sweep, and no subject of its own
TOKEN = re.compile(r"[\w.*\[\]-]+(?:/[\w.*\[\]-]+)*/?")
DATA = re.compile(r"\.(csv|js|css|json|s)$")
ANSWER = re.compile(rf"{EXERCISES}/\w+/\w+/(wrong|right)/")
COLLECTED = re.compile(r"tests/(?:.*/)?test_\w+\.py")


@dataclass(frozen=True)
class Part:
    """A test module; or of one that goes through all exercises or units, the tests of one of them."""

    module: str
    of: str = ""  # "communication.ping_pong", "04_communication"

    def __str__(self) -> str:
        return f"{self.module}::{self.of}" if self.of else self.module

    @classmethod
    def named(cls, name: str) -> Part:
        module, _, of = name.partition("::")
        return cls(module, of)


class Closure:
    """Of one tree. ``kept`` are the names of sources by content, which other trees share."""

    def __init__(self, tree: Tree, kept: dict[str, Names] | None = None) -> None:
        self.tree = tree
        self.kept = {} if kept is None else kept
        self.files = tree.ids
        self.below: dict[str, list[str]] = defaultdict(list)
        self.called: dict[str, list[str]] = defaultdict(list)
        for path in self.files:
            folder, _, name = path.rpartition("/")
            self.called[name].append(path)
            while folder:
                self.below[folder].append(path)
                folder = folder.rpartition("/")[0]
        self._edges: dict[str, frozenset[str]] = {}

    @cached_property
    def exercises(self) -> dict[str, str]:
        """Id → folder."""
        found = [p.split("/") for p in self.files if re.fullmatch(rf"{EXERCISES}/\w+/\w+/exercise\.py", p)]
        return {f"{topic}.{function}": f"{EXERCISES}/{topic}/{function}" for *_, topic, function, _ in found}

    @cached_property
    def units(self) -> dict[str, str]:
        """Folder → topic: "04_communication" → "communication"."""
        found = {p.split("/")[1] for p in self.files if re.match(r"course/\d\d_\w+/", p)}
        return {unit: unit[3:] for unit in found}

    @cached_property
    def modules(self) -> list[str]:
        """The test modules that pytest collects."""
        return sorted(p for p in self.files if COLLECTED.fullmatch(p))

    def parts(self) -> list[Part]:
        return [part for module in self.modules for part in self.parts_of(module)]

    def parts_of(self, module: str) -> list[Part]:
        """A module that goes through exercises or units is proven for each of them, and for the rest of it."""
        words = self.names(module).words
        each = [*self.exercises] if words & SWEEP and words >= {"parametrize", "exercise"} else []
        each += [*self.units] if words & SWEEP_UNITS and words >= {"parametrize", "unit"} else []
        return [Part(module), *(Part(module, of) for of in sorted(each))]

    def of(self, part: Part) -> list[str]:
        """All files that it depends on. Of a part, its module's without what other parts are about."""
        return self._reached(self._begin(part))

    def _begin(self, part: Part) -> set[str]:
        start = {part.module, *(path for path in EVERYTHING if path in self.files)}
        words = self.names(part.module).words
        about = [part.of] if part.of else [*self.exercises] if words & SWEEP else []
        about += [*self.units] if not part.of and words & SWEEP_UNITS else []
        kinds = {**dict.fromkeys(self.exercises, "exercise"), **dict.fromkeys(self.units, "unit")}
        return start | {f"{kinds[of]}:{of}" for of in about}

    def exercise_of(self, path: str) -> str:
        """The id of the exercise in whose folder a file lies, if it does."""
        found = re.match(rf"{EXERCISES}/(\w+)/(\w+)/", path)
        return f"{found[1]}.{found[2]}" if found else ""

    def is_about(self, part: Part, exercise: str) -> bool:
        """Whether it is the exercise's, or its lab's, or of a module that names it, and is not one of many there."""
        topic = exercise.partition(".")[0]
        if part.of:
            lab = part.module == LABS and self.units.get(part.of) == topic
            return lab or part.of == exercise
        named = {node for node in self.edges(part.module) if node.startswith("exercise:")}
        return f"exercise:{exercise}" in named and len(named) <= MANY

    def hash(self, part: Part, *more: str) -> str:
        """Of paths and contents, and of ``more``: the versions of what is no file here."""
        total = sum(map(self._value, self.of(part)))
        return hashlib.sha256("\n".join([*more, str(total)]).encode()).hexdigest()[:16]

    @cache  # noqa: B019
    def _value(self, path: str) -> int:
        """A sum of such numbers stands for a set of files: thousands of sets share most of theirs."""
        return int.from_bytes(hashlib.sha256(f"{path} {self.files[path]}".encode()).digest()[:20])

    def _reached(self, start: Iterable[str]) -> list[str]:
        found = self._hidden.of(start)
        if any(self._says_show(path) for path in found):
            found = self._shown.of(start)
        return [path for path in found if path in self.files and path != LEDGER]

    @cache  # noqa: B019
    def _says_show(self, path: str) -> bool:
        return not path.startswith(PACKAGE) and path in self.files and "show" in self.names(path).words

    def way(self, part: Part, path: str) -> list[str]:
        """Why a part depends on a file: a shortest way from source to source."""
        came: dict[str, str] = dict.fromkeys(self._begin(part), "")
        waiting = [*came]
        for node in waiting:
            for other in sorted(self.edges(node)):
                if other not in came:
                    came[other] = node
                    waiting.append(other)
        steps = [path] if path in came else []
        while steps and came[steps[-1]]:
            steps.append(came[steps[-1]])
        return steps[::-1]

    @cached_property
    def _shown(self) -> Reach:
        return Reach(self.edges)

    @cached_property
    def _hidden(self) -> Reach:
        """Without the figures that a result shows."""
        return Reach(lambda node: {other for other in self.edges(node) if not _is_shown(node, other)})

    def edges(self, node: str) -> frozenset[str]:
        if node not in self._edges:
            self._edges[node] = frozenset(self._leads(node))
        return self._edges[node]

    def names(self, path: str) -> Names:
        if not path.endswith(".py"):
            return Names()
        id = self.files[path]
        if id not in self.kept:
            read = imports_alone if ANSWER.match(path) else names
            self.kept[id] = read(self.tree.read(path).decode(errors="replace"))
        return self.kept[id]

    def _leads(self, node: str) -> Iterator[str]:
        kind, _, name = node.partition(":")
        if kind == "exercise":
            yield from self.below[self.exercises[name]]
        elif kind == "unit":
            yield from self._of_unit(name)
        elif node in self.files and node.endswith(".py") and node not in EVERYTHING:
            yield from self._of_source(node)

    def _of_unit(self, unit: str) -> Iterator[str]:
        for place in ("course", "labs", "solutions"):
            yield from self.below[f"{place}/{unit}"]
        behind = f"{LESSONS}/{self.units[unit]}.json"
        yield from [behind] if behind in self.files else []

    def _of_source(self, path: str) -> Iterator[str]:
        yield from self._imports(path)
        if ANSWER.match(path):
            return
        yield from self._named(path)
        if path.startswith("tests/"):
            yield from self._beside(path)

    # Imports

    def _imports(self, path: str) -> Iterator[str]:
        for module, name in self.names(path).imports:
            if module.split(".")[0] == "lockstep":
                yield from self._module(module, name, self.names(path).words)
            elif path.startswith(("tests/", "course/")):
                yield from self._helper(module, path)

    def _module(
        self, module: str, name: str, words: frozenset[str] = frozenset(), faces: tuple[str, ...] = ()
    ) -> Iterator[str]:
        """The file of ``from module import name`` and the packages on the way. Of a lazy face: what is taken by this
        name, or where the face itself is imported, by one of the importer's ``words``. A folder on the way may be no
        package: those of the exercises' topics have no file of their own."""
        steps = [*module.split("."), *([name] if name else [])]
        files = [self._file(".".join(steps[:end])) for end in range(1, len(steps) + 1)]
        for path, step, inner in zip(files, [*steps[1:], ""], [*files[1:], ""], strict=True):
            if not path:
                continue
            yield path
            wanted = {step} if step else words
            for given, home in () if inner or path in faces else self.names(path).faces:
                if given in wanted or wanted == {"*"}:
                    yield from self._module(home, given, faces=(*faces, path))

    def _file(self, module: str) -> str:
        """ "pkg/lockstep/cost/__init__.py" of "lockstep.cost"; "" of what is no module."""
        place = f"pkg/{module.replace('.', '/')}"
        return next((path for path in (f"{place}.py", f"{place}/__init__.py") if path in self.files), "")

    def _helper(self, module: str, path: str) -> Iterator[str]:
        """Tests import what lies in the folders that pytest, or a conftest, has put on the path."""
        first = module.split(".")[0]
        yield from (p for p in self.called[f"{first}.py"] if p.startswith("tests/"))
        for folder in self._packages.get(first, ()):
            yield from (p for p in self.below[folder] if p.endswith(".py"))

    @cached_property
    def _packages(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for folder in self.below:
            if folder.startswith("tests/"):
                found[folder.rpartition("/")[2]].append(folder)
        return found

    def _beside(self, path: str) -> Iterator[str]:
        """What pytest loads for all tests of a folder."""
        for folder in PurePosixPath(path).parents:
            yield from [conftest] if (conftest := f"{folder}/conftest.py") in self.files else []

    # Strings

    def _named(self, path: str) -> Iterator[str]:
        found = self.names(path)
        own = path.rpartition("/")[0]
        for text in found.strings:
            yield from self._meant(text, path)
        for joined in found.paths:
            yield from self._place(joined, own)
        if path.startswith("tests/") and not COLLECTED.fullmatch(path):  # of a test module its parts do
            yield from (f"exercise:{id}" for id in self.exercises if found.words & SWEEP)
            yield from (f"unit:{unit}" for unit in self.units if found.words & SWEEP_UNITS)

    def _meant(self, text: str, path: str) -> Iterator[str]:
        if len(text) > 20_000:
            return
        if text == "**" and path.startswith("tests/"):
            yield from self.files
        own = path.rpartition("/")[0]
        if path.startswith("tests/") and (text == "lockstep" or re.search(r"(-m |bin/)lockstep\b", text)):
            yield from self._module("lockstep.__main__", "")
        for module in re.findall(r"lockstep(?:\.\w+)+\.?", text):
            yield from self._dotted(module, path)
        for topic, function in re.findall(r"\b(\w+)\.(\w*)", text):
            if f"{topic}.{function}" in self.exercises:
                yield f"exercise:{topic}.{function}"
            elif not function and f"{EXERCISES}/{topic}" in self.below and text.startswith(f"{topic}."):
                yield from (f"exercise:{id}" for id in self.exercises if id.startswith(f"{topic}."))
        for unit in () if path.startswith(PACKAGE) else re.findall(r"\d\d_\w+", text):
            yield from [f"unit:{unit}"] if unit in self.units else []
        for token in TOKEN.findall(text):
            if "/" in token or re.search(r"\w?\.\w+$", token):  # "docs" alone is a word
                yield from self._place(token, own)

    def _dotted(self, module: str, path: str) -> Iterator[str]:
        steps = module.rstrip(".").split(".")
        if module.endswith(".") and ".".join(steps) != "lockstep.exercises":  # what stands before a name to come
            folder = f"pkg/{'/'.join(steps)}"
            yield from (p for p in self.below[folder] if p.rpartition("/")[0] == folder and p.endswith(".py"))
        while len(steps) > 1 and not self._file(".".join(steps)):
            steps.pop()
        if len(steps) > 1:
            yield from self._module(".".join(steps), "", self.names(path).words)

    @cache  # noqa: B019  # a closure lives as long as the command
    def _place(self, token: str, own: str) -> tuple[str, ...]:
        """Files that a token of a string could mean: by path from the root, the package, one's own folder or the one
        above; by name alone where it is data; or by a pattern. The package knows nothing of what is outside it."""
        found = list(self.below.get(token[:-1], ())) if token.endswith("/") and token[:-1] in WHOLE else []
        token = token.strip("/")
        inside = own.startswith(PACKAGE)
        for base in ("", f"{PACKAGE}/", f"{own}/", f"{own.rpartition('/')[0]}/"):
            found += self._one_place(f"{base}{token}", token)
        if DATA.search(token) and "/" not in token and "*" not in token:
            mine = "/".join(own.split("/")[:2])
            found += [p for p in self.called[token] if p.startswith((mine, PACKAGE))]
        if DATA.fullmatch(token) and f"{own}/{token}" != f"{LESSONS}/.json":  # of f"{name}.js"
            found += [p for p in self.below[own] if p.endswith(token)]
        return tuple(p for p in found if p.startswith((PACKAGE, "exercise:")) or not inside)

    def _one_place(self, full: str, pattern: str) -> list[str]:
        unit = re.match(r"(?:course|labs|solutions)/(\d\d_\w+)", full)
        if unit and unit[1] in self.units:
            return [f"unit:{unit[1]}"]
        exercise = re.match(rf"{EXERCISES}/(\w+)/(\w+)", full)
        if exercise and f"{exercise[1]}.{exercise[2]}" in self.exercises:
            return [f"exercise:{exercise[1]}.{exercise[2]}"]
        if full in self.files:
            return [full]
        if full in self.below:
            return [] if full in WHOLE else [p for p in self.below[full] if not COLLECTED.fullmatch(p)]
        if "/" in pattern and "*" in pattern:
            head = full.split("*")[0].rpartition("/")[0]
            wanted = re.compile(re.escape(full).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*"))
            return [p for p in self.below[head] if wanted.fullmatch(p)] if head in self.below else []
        return []


def _is_shown(node: str, other: str) -> bool:
    return node == WHEN_SHOWN[0] and other.startswith(WHEN_SHOWN[1])


def read_kept(file: Path) -> dict[str, Names]:
    try:
        rows = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return {id: Names(*(frozenset(tuple(v) if isinstance(v, list) else v for v in each) for each in row))
            for id, row in rows.items()}  # fmt: skip


def write_kept(file: Path, kept: dict[str, Names]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = {id: [sorted(each) for each in (n.imports, n.faces, n.words, n.strings, n.paths)] for id, n in kept.items()}
    file.write_text(json.dumps(rows))
