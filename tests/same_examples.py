"""For modules with tests by hypothesis: the same examples in each run.

By itself hypothesis draws by chance, keeps what failed in a folder, and prefers constants that it finds in the source
of whatever modules happen to be loaded: a test then tries other things beside other tests.
"""

from hypothesis import given, settings
from hypothesis.internal.conjecture import providers

__all__ = ["given", "settings"]

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")
providers._get_local_constants = providers.Constants
