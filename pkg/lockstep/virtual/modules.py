"""Modules of the learner's own: each rank has its own copy, as each process has.

Ranks are threads of one process, and Python keeps a module once for a process. A cached ``get_rank``, or a module that
keeps process groups in a global, would be right on one rank and wrong on all others. So a file beside the notebook, and
a package on the path that is not part of an installation, is imported anew by every rank that imports it::

    rank 0 ──import groups──▶ sys.modules ──▶ groups of rank 0
    rank 1 ──import groups──▶ sys.modules ──▶ groups of rank 1      numpy, torch, ...: one for all

``Finder``       meets a top-level module at its first import, and decides whether it is the learner's. Until then all
                 of Python is as it was, and costs what it did
``RankModules``  takes the place of ``sys.modules``: some names are answered for the rank whose thread asks
``importing``    takes the place of ``__import__``: C code looks into the interpreter's own dict, not into
                 ``sys.modules``

A file is compiled once. Extension modules cannot be loaded twice: all ranks share them, in a package of the learner's,
too.
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
from lockstep.virtual.rank import owner

INSTALLED = {"site-packages", "dist-packages"}  # of other environments, too, that are on the path


def is_installed(path: str) -> bool:
    """Whether a file or directory belongs to Python, to Lockstep or to an installed package."""
    return places.is_library(path) or not INSTALLED.isdisjoint(PurePath(path).parts)


def is_learners(spec: ModuleSpec) -> bool:
    """Whether a top-level module is none of an installation."""
    if isinstance(spec.loader, ExtensionFileLoader):
        return False
    files = [spec.origin or ""] if spec.has_location else list(spec.submodule_search_locations or [])
    return bool(files) and not any(map(is_installed, files))


class RankModules(MutableMapping[str, ModuleType]):
    """``sys.modules``, in which all names below ``roots`` belong to the rank that asks. ``shared``: all others, in the
    interpreter's own dict."""

    def __init__(self, shared: dict[str, ModuleType], ranks: int) -> None:
        self.shared, self.roots = shared, set[str]()
        self.own: Sequence[dict[str, ModuleType]] = [{} for _ in range(ranks)]

    def is_own(self, name: str) -> bool:
        """Whether the calling thread has a module of this name for itself."""
        return name.partition(".")[0] in self.roots and owner() is not None

    def _of(self, name: str) -> dict[str, ModuleType]:
        rank = owner()
        return self.shared if rank is None or name.partition(".")[0] not in self.roots else self.own[rank]

    def __getitem__(self, name: str) -> ModuleType:
        return self._of(name)[name]

    def __setitem__(self, name: str, module: ModuleType) -> None:
        self._of(name)[name] = module
        self.shared[name] = module  # where C code looks for what it has just imported

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
        """Let C code that asks next find the calling rank's module."""
        if module := self.own[owner() or 0].get(name):
            self.shared[name] = module


class Finder(MetaPathFinder):
    """Finds what any other finder finds, and sees to it that a rank has it for itself. ``named``: packages that are
    to be treated so although they are installed."""

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
        if self._modules.is_own(name) and target is None:  # with a target it is reload(), of a file that has changed
            spec.loader = self._loader(spec)
        return spec

    def _loader(self, spec: ModuleSpec) -> Loader | None:
        """One for all ranks: a file is read and compiled once."""
        if type(spec.loader) is SourceFileLoader:
            key = spec.name, spec.loader.path, os.stat(spec.loader.path).st_mtime_ns
            return self._loaders.setdefault(key, compiling_once(spec.loader))
        if isinstance(spec.loader, ExtensionFileLoader):
            return self._loaders.setdefault((spec.name, spec.loader.path, 0), SharedExtension(spec.loader))
        return spec.loader

    def _share_out(self, root: str) -> None:
        """Each rank has the module ``root``, and what is in it, for itself from now on."""
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
    """Loads an extension module once, and gives every rank the same."""

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
    """``__import__``. What is the rank's own is imported by Python's Python, which asks ``sys.modules``."""
    if not modules.is_own(name if level == 0 else (globals or {}).get("__package__") or ""):
        module: ModuleType = real(name, globals, locals, fromlist, level)
        return module
    module = importlib.__import__(name, globals, locals, fromlist or (), level)
    modules.show(name)
    for part in fromlist or ():  # in a circle of imports, its package does not have it yet as an attribute
        modules.show(f"{module.__name__}.{part}")
    return module


def lock_of_rank(modules: RankModules, real: Any, name: str) -> Any:
    """The lock that a thread holds while it imports a module. A rank whose module communicates while it is imported
    gives the baton away there: no other rank must wait for it."""
    return real(f"{name} of rank {owner()}" if modules.is_own(name) else name)


class RankModule(ModuleType):
    """A module of which each rank has its own, as ``__main__``, where the classes of a notebook live. What pickles by
    name looks there."""

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
    """Let each of ``ranks`` ranks import the learner's modules, and the packages ``isolate``, for itself. For a process
    that is the cluster's alone, before any rank runs."""
    sys.modules["__main__"] = RankModule("__main__", ranks)
    sys.meta_path.insert(0, Finder(ranks, isolate))


def own_module(name: str) -> ModuleType:
    """The module of that name of the rank that asks. It is made for all ranks when the first one asks."""
    main, shared = sys.modules["__main__"], sys.modules.get(name)
    own: list[ModuleType] = object.__getattribute__(main, "_own")
    if not isinstance(shared, RankModule):
        sys.modules[name] = shared = RankModule(name, len(own))
    mine: ModuleType = object.__getattribute__(shared, "_own")[owner() or 0]
    return mine


def forget_classes() -> None:
    """Let the next function that is unpickled bring its own classes. cloudpickle keeps those that it has made, and
    would give the first rank's to all others, with what is in them."""
    cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID.clear()
