"""Per-rank modules: each rank imports its own copy of the learner's modules, as separate processes would.

Ranks are threads of one process, and Python has one copy of a module per process. A cached ``get_rank``, or a module
with process groups in a global variable, would be right on one rank and wrong on all others. So a file next to the
notebook, or a package on the path that is not installed, is imported anew by every rank::

    rank 0 ──import groups──▶ sys.modules ──▶ groups of rank 0
    rank 1 ──import groups──▶ sys.modules ──▶ groups of rank 1      numpy, torch, ...: shared

``Finder``       decides at the first import of a top-level module whether it is the learner's. Until it finds one,
                 Python's import system is unchanged
``RankModules``  replaces ``sys.modules``: some names are looked up for the rank whose thread asks
``importing``    replaces ``__import__``, since C code uses the interpreter's own dict and not ``sys.modules``

A file is compiled once. Extension modules cannot be loaded twice: all ranks share them, even in a learner's package.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import sys
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from importlib import _bootstrap
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from pathlib import PurePath
from types import ModuleType
from typing import Any

from cloudpickle import cloudpickle

from lockstep import places
from lockstep.virtual.rank_threads import owner

INSTALLED = {"site-packages", "dist-packages"}  # also of other environments on the path


def is_installed(path: str) -> bool:
    """Whether a file or directory belongs to Python, to Lockstep or to an installed package."""
    return places.is_library(path) or not INSTALLED.isdisjoint(PurePath(path).parts)


def is_learners(spec: ModuleSpec) -> bool:
    """Whether a top-level module belongs to no installed package."""
    if isinstance(spec.loader, ExtensionFileLoader):
        return False
    files = [spec.origin or ""] if spec.has_location else list(spec.submodule_search_locations or [])
    return bool(files) and not any(map(is_installed, files))


class RankModules(MutableMapping[str, ModuleType]):
    """A ``sys.modules`` in which names below ``roots`` are looked up per rank. ``shared``: the interpreter's own dict,
    with all other modules."""

    def __init__(self, shared: dict[str, ModuleType], ranks: int) -> None:
        self.shared, self.roots = shared, set[str]()
        self.own: Sequence[dict[str, ModuleType]] = [{} for _ in range(ranks)]

    def is_own(self, name: str) -> bool:
        """Whether modules of this name are per rank, and the calling thread belongs to a rank."""
        return name.partition(".")[0] in self.roots and owner() is not None

    def _of(self, name: str) -> dict[str, ModuleType]:
        rank = owner()
        return self.shared if rank is None or name.partition(".")[0] not in self.roots else self.own[rank]

    def __getitem__(self, name: str) -> ModuleType:
        return self._of(name)[name]

    def __setitem__(self, name: str, module: ModuleType) -> None:
        self._of(name)[name] = module
        self.shared[name] = module  # C code looks there for what it has just imported

    def __delitem__(self, name: str) -> None:
        del self._of(name)[name]
        self.shared.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.copy())

    def __len__(self) -> int:
        return len(self.copy())

    def copy(self) -> dict[str, ModuleType]:
        rank = owner()
        if rank is None:
            return dict(self.shared)
        mine = {name: module for name, module in self.shared.items() if name.partition(".")[0] not in self.roots}
        return mine | self.own[rank]

    def show(self, name: str) -> None:
        """Let C code find the calling rank's module."""
        if module := self.own[owner() or 0].get(name):
            self.shared[name] = module


class Finder(MetaPathFinder):
    """Delegates to the other finders, and makes learners' modules per rank. ``named``: installed packages that are
    treated in the same way (``run(isolate=...)``)."""

    def __init__(self, ranks: int, named: Collection[str]) -> None:
        shared: Any = sys.modules
        self._modules, self._named = RankModules(shared, ranks), named
        self._loaders: dict[tuple[str, str, int], Loader] = {}
        for name in named:
            self._share_out(name)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if owner() is None or not (path is None or self._modules.is_own(name)):
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        if spec is None:
            return None
        if path is None and is_learners(spec):
            self._share_out(name)
        if self._modules.is_own(name) and target is None:  # a target means reload(), of a file that has changed
            spec.loader = self._loader(spec)
        return spec

    def _loader(self, spec: ModuleSpec) -> Loader | None:
        """A loader that all ranks share, so that a file is read and compiled once."""
        if type(spec.loader) is SourceFileLoader:
            key = spec.name, spec.loader.path, os.stat(spec.loader.path).st_mtime_ns
            return self._loaders.setdefault(key, compiling_once(spec.loader))
        if isinstance(spec.loader, ExtensionFileLoader):
            return self._loaders.setdefault((spec.name, spec.loader.path, 0), SharedExtension(spec.loader))
        return spec.loader

    def _share_out(self, root: str) -> None:
        """From now on each rank has its own copy of module ``root`` and its submodules."""
        if not self._modules.roots:
            setattr(sys, "modules", self._modules)  # noqa: B010
            setattr(builtins, "__import__", functools.partial(importing, self._modules, builtins.__import__))  # noqa: B010
            locks = functools.partial(lock_of_rank, self._modules, _bootstrap._get_module_lock)  # type: ignore[attr-defined]
            setattr(_bootstrap, "_get_module_lock", locks)  # noqa: B010
        self._modules.roots.add(root)


def compiling_once(loader: SourceFileLoader) -> SourceFileLoader:
    setattr(loader, "get_code", functools.cache(loader.get_code))  # noqa: B010
    return loader


class SharedExtension(Loader):
    """Loads an extension module once, for all ranks."""

    def __init__(self, loader: ExtensionFileLoader) -> None:
        self._loader = loader
        self._module: Any = None

    def create_module(self, spec: ModuleSpec) -> Any:
        self._module = self._module or self._loader.create_module(spec)
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)  # again, it does nothing


def importing(
    modules: RankModules,
    real: Any,
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """``__import__``. Per-rank modules are imported by importlib's Python code, which uses ``sys.modules``."""
    if not modules.is_own(name if level == 0 else (globals or {}).get("__package__") or ""):
        module: ModuleType = real(name, globals, locals, fromlist, level)
        return module
    module = importlib.__import__(name, globals, locals, fromlist or (), level)
    modules.show(name)
    for part in fromlist or ():  # in a circle of imports, its package does not have it yet as an attribute
        modules.show(f"{module.__name__}.{part}")
    return module


def lock_of_rank(modules: RankModules, real: Any, name: str) -> Any:
    """The import lock of a module, one per rank: a module may communicate while it is imported, and its rank then gives
    up the baton, so that no other rank may wait for that lock."""
    return real(f"{name} of rank {owner()}" if modules.is_own(name) else name)


class RankModule(ModuleType):
    """A module with a separate namespace per rank, such as ``__main__``, where pickle looks up a notebook's classes."""

    def __init__(self, name: str, ranks: int) -> None:
        super().__init__(name)
        own = [ModuleType(name) for _ in range(ranks)]
        object.__setattr__(self, "_own", own)

    def __getattribute__(self, name: str) -> Any:
        rank = owner()
        own: list[ModuleType] = object.__getattribute__(self, "_own")
        return object.__getattribute__(self, name) if rank is None else getattr(own[rank], name)

    def __setattr__(self, name: str, value: Any) -> None:
        rank = owner()
        if rank is None:
            super().__setattr__(name, value)
        else:
            setattr(object.__getattribute__(self, "_own")[rank], name, value)


def install(ranks: int, isolate: Collection[str] = ()) -> None:
    """Let each rank import its own copy of the learner's modules, and of the packages ``isolate``. For a process of a
    virtual cluster, before any rank runs."""
    sys.modules["__main__"] = RankModule("__main__", ranks)
    sys.meta_path.insert(0, Finder(ranks, isolate))


def own_module(name: str) -> ModuleType:
    """The calling rank's module of that name, which is created for all ranks on first use."""
    main, shared = sys.modules["__main__"], sys.modules.get(name)
    own: list[ModuleType] = object.__getattribute__(main, "_own")
    if not isinstance(shared, RankModule):
        sys.modules[name] = shared = RankModule(name, len(own))
    mine: ModuleType = object.__getattribute__(shared, "_own")[owner() or 0]
    return mine


def forget_classes() -> None:
    """Clear cloudpickle's cache of classes, so that the next function that is unpickled gets its own. Otherwise all
    ranks would share the first rank's classes, and their attributes."""
    cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID.clear()
