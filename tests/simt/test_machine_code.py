"""PTX and SASS of a kernel without a GPU, where the extra is installed; a sentence where it is not."""

import importlib.util
import re
import sys

import numpy as np
import pytest
from numba import cuda

from lockstep.errors import WorldUnavailable
from lockstep.experiments.gpu.machine_code import REGISTERS, by_lines, machine_code
from lockstep.simt import KernelError

LISTING = """
	//----- nvinfo : EIATTR_REGCOUNT
	.align		4
        /*000c*/ 	.byte	0x04, 0x2f
        /*0010*/ 	.word	index@(kernel)
        /*0014*/ 	.word	0x0000000e
	//## File "/home/me/kernels.py", line 4
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E R0, desc[UR8][R4.64] ;
	//## File "/usr/lib/other.py", line 9
        /*0020*/                   FADD R9, R4, R7 ;
	//## File "/home/me/kernels.py", line 5 inlined at "/home/me/kernels.py", line 7
        /*0030*/                   EXIT ;
        /*0040*/                   NOP;
"""


def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] * factor


def undefined(a):
    a[0] = nothing_of_the_kind  # noqa: F821


def test_a_listing_is_read_by_lines() -> None:
    sass, lines = by_lines(LISTING, "/elsewhere/kernels.py")
    assert sass == ("LDC R1, c[0x0][0x28]", "@!P0 LDG.E R0, desc[UR8][R4.64]", "FADD R9, R4, R7", "EXIT")
    assert lines == {4: sass[:2], 5: ("EXIT",)}
    assert int(REGISTERS.search(LISTING)["count"], 16) == 14


def test_without_the_extra_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    with pytest.raises(WorldUnavailable, match=r"numba_cuda, which is not installed.\n.*lockstep-lab\[gpu\]"):
        machine_code(scale, np.ones(4, np.float32), 2.0)


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="needs the extra gpu")
def test_a_kernel_is_compiled_for_an_h100() -> None:
    code = machine_code(scale, np.ones(4, np.float32), np.float32(2))
    assert ".target sm_90" in code.ptx
    assert any(re.match(r"(@!?P\d )?STG", instruction) for instruction in code.sass)
    assert 0 < code.registers <= 255
    first = scale.__code__.co_firstlineno
    assert set(code.lines) <= set(range(first, first + 5))
    assert any("FMUL" in instruction for instruction in code.lines[first + 3])
    double = machine_code(scale, np.ones(4, np.float32), 2.0)
    assert any("DMUL" in instruction for instruction in double.lines[first + 3])
    with pytest.raises(KernelError, match="numba cannot compile undefined"):
        machine_code(undefined, np.ones(4, np.float32))
