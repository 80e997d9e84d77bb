"""Which names a cell makes, and which it takes from other cells."""

from __future__ import annotations

import symtable

from IPython.core.inputtransformer2 import TransformerManager


def made(source: str) -> set[str]:
    """The names that a cell leaves behind."""
    return {s.get_name() for s in _table(source).get_symbols() if s.is_assigned() or s.is_imported()}


def taken(source: str) -> set[str]:
    """The names that a cell takes from others, also in functions that it only defines."""
    top = _table(source)
    mine = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    return mine.union(*map(_globals, top.get_children())) - made(source)


def _globals(table: symtable.SymbolTable) -> set[str]:
    mine = {s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global()}
    return mine.union(*map(_globals, table.get_children()))


def _table(source: str) -> symtable.SymbolTable:
    plain = TransformerManager().transform_cell(source)  # type: ignore[no-untyped-call]
    return symtable.symtable(plain, "cell", "exec")
