"""One line of machine code: what it does, what it reads, where the result goes.

Two dialects are read, as LLVM prints them:

    x86-64, AT&T       vfmadd231ps  32(%rcx,%r9,4), %ymm5, %ymm1        the destination comes last
    aarch64            fmla         v1.4s, v5.4s, v4.4s                 the destination comes first
    aarch64 on a Mac   fmla.4s      v1, v5, v4

A register has one name here, whatever part of it is used: xmm1, ymm1 and zmm1 are all "v1", and so are s1, d1, q1 and
v1.4s. Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2; Arm A64 Instruction Set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

# Arithmetic on floating-point numbers, without its suffix for the type.
_X86 = re.compile(r"v?(add|sub|mul|div|max|min|sqrt|fn?m(?:add|sub)(?:132|213|231))([sp])([sdh])$")
_ARM = re.compile(r"f(add|sub|mul|div|max|min|maxnm|minnm|sqrt|n?madd|n?msub|mla|mls)(?:\.(\d+)([hsd]))?$")
_X86_BITS = {"x": 128, "y": 256, "z": 512}
_BITS = {"h": 16, "s": 32, "d": 64}
_JUMPS = re.compile(r"(j[a-z]+|b|b\.[a-z]+|cbn?z|tbn?z)$")
_COMPARES = ("cmp", "test", "ucomis", "vucomis", "comis", "vcomis", "fcmp", "tst", "ccmp", "fccmp")
_MOVES = ("mov", "vmov", "ldr", "ldp", "ldur", "ld1", "str", "stp", "stur", "st1", "fmov")


@dataclass(frozen=True)
class Instruction:
    """``mnemonic`` and its operands as they are printed; ``arm`` tells which dialect it is."""

    mnemonic: str
    operands: tuple[str, ...]
    arm: bool = False

    def __str__(self) -> str:
        return f"{self.mnemonic:<12} {', '.join(self.operands)}".rstrip()

    @property
    def target(self) -> str:
        """The label that it may jump to; empty if it is no jump."""
        return self.operands[-1] if self.operands and _JUMPS.match(self.mnemonic) else ""

    @cached_property
    def _arithmetic(self) -> re.Match[str] | None:
        return (_ARM if self.arm else _X86).match(self.mnemonic)

    @property
    def is_arithmetic(self) -> bool:
        """Whether it computes with floating-point numbers."""
        return self._arithmetic is not None

    @property
    def multiplies(self) -> bool:
        """A product, alone or fused with an addition."""
        return self.is_arithmetic and any(part in self.mnemonic for part in ("mul", "madd", "msub", "mla", "mls"))

    @property
    def element_bits(self) -> int:
        """The width of one number: 32 for float32, 64 for float64; 0 if it does not compute."""
        if not self._arithmetic:
            return 0
        if not self.arm:
            return _BITS[self._arithmetic[3]]
        return _BITS[self._shape[1]]

    @property
    def lanes(self) -> int:
        """How many numbers it computes at once."""
        if not self._arithmetic:
            return 0
        if self.arm:
            return self._shape[0]
        return self.register_bits // self.element_bits if self._arithmetic[2] == "p" else 1

    @property
    def register_bits(self) -> int:
        """The width of the widest vector register that it names: 128 (xmm, NEON), 256 (ymm) or 512 (zmm)."""
        if self.arm:
            return 128 if any(_vector_register(o) for o in self.operands) else 0
        return max((_X86_BITS[m[1]] for o in self.operands for m in re.finditer(r"%([xyz])mm\d+", o)), default=0)

    @property
    def _shape(self) -> tuple[int, str]:
        """(lanes, type) on aarch64: of ``fmla.4s``, of ``v1.4s``, or of the scalar register s1."""
        if self._arithmetic and self._arithmetic[2]:
            return int(self._arithmetic[2]), self._arithmetic[3]
        shape = re.match(r"v\d+\.(\d+)([hsd])", self.operands[0])
        return (int(shape[1]), shape[2]) if shape else (1, self.operands[0][0])

    @property
    def destinations(self) -> tuple[str, ...]:
        """What it writes: registers, or a place in memory as it is spelled. Nothing for jumps and compares."""
        if not self.operands or self.target or self.mnemonic.startswith(_COMPARES):
            return ()
        if not self.arm:
            return (register(self.operands[-1]),)
        at = next((n for n, o in enumerate(self.operands) if o.startswith("[")), len(self.operands))
        place = self.operands[at : at + 1]
        moved = place if self.operands[at + 1 :] or "".join(place).endswith("!") else ()  # the address moves on, too
        written = place if self.stores else self.operands[: 2 if self.mnemonic.startswith("ldp") else 1]
        return tuple(register(o) for o in (*written, *(m.strip("[]!").partition(",")[0] for m in moved)))

    @property
    def loads(self) -> bool:
        """Whether it reads memory. (``lea`` only computes an address.)"""
        if self.arm:
            return self.mnemonic.startswith("ld")
        if "lea" in self.mnemonic:
            return False
        stores = self.stores and self._copies
        return any("(" in o for o in (self.operands[:-1] if stores else self.operands))

    @property
    def stores(self) -> bool:
        """Whether it writes memory."""
        if self.arm:
            return self.mnemonic.startswith("st")
        return any("(" in place for place in self.destinations)

    @property
    def _copies(self) -> bool:
        return self.mnemonic.startswith(_MOVES)

    @property
    def sources(self) -> frozenset[str]:
        """The registers and places whose *values* it reads; not those that only make up an address."""
        read = [register(o) for o in (self.operands[1:] if self.arm else self.operands[:-1])]
        if self.arm and (self.loads or self.stores):
            read = [register(o) for o in self.operands if o.startswith("[") == self.loads]
        if self._reads_destination:
            read += self.destinations
        if self.mnemonic.startswith(("vxor", "xor", "pxor", "vpxor")) and len(set(self.operands)) == 1:
            return frozenset()  # a register's exclusive or with itself is zero
        return frozenset(read) - {""}

    @property
    def _reads_destination(self) -> bool:
        if self.arm:  # fused into its destination, or one lane of it replaced
            return self.mnemonic.startswith(("fmla", "fmls")) or bool(re.search(r"\[\d+\]$", self.operands[0]))
        if "fm" in self.mnemonic or "fnm" in self.mnemonic:
            return True
        three = self.mnemonic.startswith("v") or len(self.operands) > 2
        return not three and not self.mnemonic.startswith((*_MOVES, "cvt", "sqrt", "lea"))


def register(operand: str) -> str:
    """``%ymm4`` → "v4", ``v4.4s`` → "v4", ``s4`` → "v4"; memory and other registers as they are written."""
    vector = re.match(r"%[xyz]mm(\d+)", operand) or _vector_register(operand)
    return f"v{vector[1]}" if vector else operand


def _vector_register(operand: str) -> re.Match[str] | None:
    return re.match(r"[vqdshbz](\d+)(?:\.\d*[bhsd])?(?:\[\d+\])?$", operand)
