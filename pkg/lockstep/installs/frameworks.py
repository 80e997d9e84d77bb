"""TensorFlow and Lightning: what pip installs of each (data/NAME.txt), and how much that is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import UsageError

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Framework:
    """A framework that gets an environment of its own.

    package            the one that has the framework's version
    loads              a program that ends well if the framework works
    download, disk     in megabytes; ``seconds`` were measured on two cores
    uses_torch         whether its environment shows the torch that is here, and what is installed beside it"""

    name: str
    shown: str
    package: str
    loads: str
    download: int
    disk: int
    seconds: int
    uses_torch: bool = False

    @property
    def command(self) -> str:
        return f"lockstep with {self.name}"

    @property
    def size(self) -> str:
        return f"{self.download:,} MB to download, {self.disk:,} MB on the disk, about {self.seconds} seconds"

    @property
    def listed(self) -> Path:
        """The file that lists its packages, for ``pip --requirement``."""
        return DATA / f"{self.name}.txt"

    def versions(self) -> dict[str, str]:
        """The version of each package."""
        lines = self.listed.read_text(encoding="utf-8").splitlines()
        return dict(line.split("==") for line in lines if not line.startswith("#"))

    @property
    def version(self) -> str:
        return self.versions()[self.package]


TENSORFLOW = Framework(
    "tensorflow", "TensorFlow", "tensorflow-cpu", loads="import tensorflow as tf; tf.keras.layers.Dense(1)",
    download=340, disk=1550, seconds=60,
)  # fmt: skip
LIGHTNING = Framework(
    "lightning", "Lightning", "lightning", loads="import lightning; lightning.Trainer",
    download=6, disk=40, seconds=15, uses_torch=True,
)  # fmt: skip
FRAMEWORKS = {one.name: one for one in (TENSORFLOW, LIGHTNING)}


def framework(name: str) -> Framework:
    """The framework of this name. Raises UsageError if there is none."""
    if name not in FRAMEWORKS:
        raise UsageError(f"Lockstep sets up no {name!r}.", f"There is: {', '.join(FRAMEWORKS)}.")
    return FRAMEWORKS[name]
