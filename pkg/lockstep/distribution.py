"""What pip calls Lockstep, its version, and which of its extras brings what.

The name ``lockstep`` on PyPI is another project's. ``import lockstep`` stays: this distribution brings that package.
The version stands here and nowhere else (pyproject.toml reads it), so that it is known in a clone, too, that nobody
has installed.
"""

from __future__ import annotations

NAME = "lockstep-lab"
VERSION = "0.2.0"

# Of a package that an extra brings, by the name of its module; tests/test_distribution.py compares pyproject.toml.
COURSE = (
    "IPython", "anywidget", "ipykernel", "ipywidgets", "joblib", "jsonschema", "jupyter_client", "jupyterlab",
    "jupytext", "matplotlib", "nbformat", "nbgrader", "numba", "safetensors", "scipy", "sklearn", "threadpoolctl",
    "tornado", "traitlets", "vl_convert",
)  # fmt: skip
EXTRA_OF = dict.fromkeys(COURSE, "course") | dict.fromkeys(("dask", "distributed"), "dask") | {"jupyterhub": "hub"}


def install(extra: str) -> str:
    """The command that brings it: "pip install 'lockstep-lab[course]'"."""
    return f"pip install '{NAME}[{extra}]'"


def missing(error: BaseException) -> tuple[str, str] | None:
    """The module that an import did not find, and the extra that brings it; None for any other error."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    module = error.name.partition(".")[0]
    return (module, EXTRA_OF[module]) if module in EXTRA_OF else None


def advice(module: str, extra: str) -> str:
    """What is missing, and the command that brings it, in two lines."""
    return f"This needs {module}, which is not installed.\nThe extra {extra} of Lockstep brings it: {install(extra)}"
