"""Horovod's settings: environment variables that it reads when it is initialised.

Their names are those of 0.28.1, from horovod/common/common.h, logging.cc and gloo_context.cc. Horovod takes no notice
of a name that it does not know: a misspelt one would change nothing, and nobody would be told.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from lockstep.errors import UsageError

NAMES = tuple(
    f"HOROVOD_{name}"
    for name in (
        "ADASUM_MPI_CHUNK_SIZE", "AUTOTUNE", "AUTOTUNE_BAYES_OPT_MAX_SAMPLES", "AUTOTUNE_GAUSSIAN_PROCESS_NOISE",
        "AUTOTUNE_LOG", "AUTOTUNE_STEPS_PER_SAMPLE", "AUTOTUNE_WARMUP_SAMPLES", "BATCH_D2D_MEMCOPIES", "CACHE_CAPACITY",
        "CCL_CACHE", "CPU_OPERATIONS", "CYCLE_TIME", "DISABLE_GROUP_FUSION", "DISABLE_NVTX_RANGES",
        "DYNAMIC_PROCESS_SETS", "ENABLE_ASYNC_COMPLETION", "ENABLE_XLA_OPS", "FUSION_THRESHOLD", "GLOO_IFACE",
        "GLOO_TIMEOUT_SECONDS", "HIERARCHICAL_ALLGATHER", "HIERARCHICAL_ALLREDUCE", "LOG_HIDE_TIME", "LOG_LEVEL",
        "MPI_THREADS_DISABLE", "NUM_NCCL_STREAMS", "STALL_CHECK_DISABLE", "STALL_CHECK_TIME_SECONDS",
        "STALL_SHUTDOWN_TIME_SECONDS", "THREAD_AFFINITY", "TIMELINE_MARK_CYCLES", "TORUS_ALLREDUCE",
    )
)  # fmt: skip
EXAMPLE = 'Write settings={"HOROVOD_CYCLE_TIME": 5}, with the names of Horovod\'s documentation.'


def checked(settings: object) -> dict[str, str]:
    """The settings as the environment has them: True is "1". Raises UsageError for what is none of Horovod's."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise UsageError(f"settings is a dict of names and values, not {type(settings).__name__}.", EXAMPLE)
    for name, value in settings.items():
        if name == "HOROVOD_TIMELINE":
            raise UsageError("settings: HOROVOD_TIMELINE is set for you.", "Write timeline=True.")
        if name not in NAMES:
            raise UsageError(f"settings: Horovod has no setting {name!r}.", _meant(str(name)))
        if not isinstance(value, (bool, int, float, str)):
            raise UsageError(f"settings: {name} is a number or a text, not {type(value).__name__}.", EXAMPLE)
    return {name: str(int(value) if isinstance(value, bool) else value) for name, value in settings.items()}


def _meant(name: str) -> str:
    short = {n.removeprefix("HOROVOD_"): n for n in NAMES}
    near = difflib.get_close_matches(name.upper().removeprefix("HOROVOD_"), short, 2, 0.7)
    return f"Did you mean {' or '.join(short[n] for n in near)}?" if near else EXAMPLE
