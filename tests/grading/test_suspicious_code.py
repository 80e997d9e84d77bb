"""What an answer's text uses that no answer needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep import checks
from lockstep.checks.known import known_answers
from lockstep.checks.load import load
from lockstep.grading.suspicious_code import executed, note, reaches

pytestmark = pytest.mark.reads("solutions/")

TOLD = {
    "import gc": ["gc"],
    "import ctypes.util": ["ctypes.util"],
    "from lockstep.residency.live_storages import Residency": ["lockstep.residency.live_storages"],
    "from lockstep import checks, run": ["lockstep.checks"],
    "from lockstep.pipeline import schedules": ["lockstep.pipeline"],
    "import lockstep\nlockstep.pipeline.schedules": ["lockstep.pipeline.schedules", "lockstep.pipeline"],
    "from operator import attrgetter\nattrgetter('gi_frame.f_locals')(g)": ["gi_frame", "f_locals"],
    "room = fits[0]._room": ["_room"],
    "import torch\nwith torch._C.DisableTorchFunction(): pass": ["DisableTorchFunction", "_C"],
    "from numba.extending import overload": ["numba.extending"],
    "import os\nos.mkdir('/tmp/12')": ["os", "os.mkdir"],
    "import numpy as np\nnp.savez(file, x=x)": ["savez"],
    "import torch.distributed as dist\nimport numpy as np": ["numpy beside ranks"],
    "from torch import distributed\nfrom threading import Thread": ["threading beside ranks"],
    "from torch.utils._python_dispatch import _disable_current_modes": ["torch.utils._python_dispatch"],
    "def f(): return f.__code__": ["__code__"],
    "import math\nmath.isclose = print": ["math.isclose = ..."],
    "import torch\ntorch.x.y = 1": ["torch.x.y = ..."],
    "getattr(f, '_' * 2 + 'code' + '_' * 2)": ["getattr()"],
    "getattr(f, '__code__')": ["__code__"],
    "exec('x')": ["exec()"],
    "import sys\nsys.modules['x']": ["sys.modules"],
    "model.modules()": [],
    "import numpy as np\nnp.sum(x)": [],
    "class Mine:\n    def __init__(self): self._held = 1\n    def f(self): return self._held": [],
    "code = types.signal\nd['save'] = 'f_locals of a frame'": [],
    "x.y = getattr(z, 'numel', 0)": [],
    "from lockstep import run\nfrom lockstep.models import GPT": [],
    "from lockstep.tensor_parallel.regions import regions": [],  # its name of an older notebook
    "from lockstep.checks.assess import check": ["lockstep.checks.assess"],
    "this is no Python": [],
}

LABS = sorted((Path(__file__).parents[2] / "solutions").glob("*/lab.ipynb"))


@pytest.mark.parametrize("text", TOLD)
def test_what_is_told_of_a_text(text: str) -> None:
    assert reaches(text) == TOLD[text]


def test_a_teacher_reads_a_sentence() -> None:
    told = note("ring", ["a", "b", "c", "d", "e"])
    assert told == "Read the answer to ring: it uses a, b, c, d and more, by which a program can get round its check."


def test_hardly_any_honest_answer_is_told() -> None:
    """Of some 1,700 known ones, right and wrong."""
    known = [(e, k) for e in checks.exercises() for k in known_answers(e)]
    told = {f"{e.id}/{k.name}" for e, k in known if reaches(k.path.read_text())}
    fine = {"why_parallel.training_memory/torch_dtypes", "cpu.saxpy/library_call"}
    assert told <= {*fine, "scikit_learn.mend_oversubscription/cores_of_this_machine"}


@pytest.mark.parametrize("lab", LABS, ids=lambda path: path.parent.name)
def test_no_answer_of_a_notebook_is_told_for_what_the_lab_itself_imports(lab: Path) -> None:
    """All who hand in lab 11 import `lockstep.experts`, in a cell that was handed out."""
    of_lab = [e for e in checks.exercises() if e.topic == lab.parent.name[3:]]
    assert of_lab
    assert {e.id: reaches(executed(load(lab, e.function))) for e in of_lab} == {e.id: [] for e in of_lab}
