"""What an answer's text uses that no answer needs."""

from __future__ import annotations

import pytest

from lockstep import checks
from lockstep.checks.known import known_answers
from lockstep.grading.reaching import note, reaches

TOLD = {
    "import gc": ["gc"],
    "import ctypes.util": ["ctypes.util"],
    "from lockstep.residency.book import Residency": ["lockstep.residency.book"],
    "from lockstep import checks, run": ["lockstep.checks"],
    "from torch.utils._python_dispatch import _disable_current_modes": ["torch.utils._python_dispatch"],
    "def f(): return f.__code__": ["__code__"],
    "import math\nmath.isclose = print": ["math.isclose = ..."],
    "import torch\ntorch.x.y = 1": ["torch.x.y = ..."],
    "getattr(f, '_' * 2 + 'code' + '_' * 2)": ["getattr()"],
    "getattr(f, '__code__')": ["getattr()"],
    "exec('x')": ["exec()"],
    "import sys\nsys.modules['x']": ["sys.modules"],
    "model.modules()": [],
    "x.y = getattr(z, 'numel', 0)": [],
    "from lockstep import run\nfrom lockstep.models import GPT": [],
    "this is no Python": [],
}


@pytest.mark.parametrize("text", TOLD)
def test_what_is_told_of_a_text(text: str) -> None:
    assert reaches([text]) == TOLD[text]


def test_a_teacher_reads_a_sentence() -> None:
    told = note("ring", ["a", "b", "c", "d", "e"])
    assert told == "Read the answer to ring: it uses a, b, c, d and more, by which a program can get round its check."


def test_hardly_any_honest_answer_is_told() -> None:
    """Of some 1,700 known ones, right and wrong."""
    known = [(e, k) for e in checks.exercises() for k in known_answers(e)]
    told = {f"{e.id}/{k.name}" for e, k in known if reaches([k.path.read_text()])}
    assert told <= {"why_parallel.training_memory/torch_dtypes"}
