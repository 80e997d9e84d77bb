"""A pytest plugin: tests whose function runs on ranks. docs/pytest.md says how to use it.

Read in this order:

    pytest_plugin   the hooks: a marked test becomes one for each number of ranks. Imports no torch
    mark            what ``@pytest.mark.lockstep(...)`` asks for
    outside         the side of pytest: it packs the test and its fixtures, runs them, and reports one rank's failure
    on_rank         the side of a rank: it calls the test, with pytest's introspection of its asserts
    own_fixtures    ``monkeypatch``, ``capsys`` and ``caplog`` of a rank
    rank_files      the folder through which a rank tells how it failed, and what it logged
    recorded        the trace of a run as a test asks about it: bytes, overlap
    no_collectives  a block of a rank's program in which it may not begin a collective
"""

from lockstep.testing.no_collectives import no_collectives as no_collectives

__all__ = ["no_collectives"]
