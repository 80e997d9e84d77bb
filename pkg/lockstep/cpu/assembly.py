"""Reading machine code: its innermost loops, and what each instruction of one turn loads, computes and stores.

Two dialects are read, as LLVM prints them:

    x86-64, AT&T       vfmadd231ps  32(%rcx,%r9,4), %ymm5, %ymm1        the destination comes last
    aarch64            fmla         v1.4s, v5.4s, v4.4s                 the destination comes first
    aarch64 on a Mac   fmla.4s      v1, v5, v4

A register has one name here, whatever part of it is used: xmm1, ymm1 and zmm1 are all "v1", and so are s1, d1, q1 and
v1.4s. Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2; Arm A64 Instruction Set.

A loop is a jump backwards, and innermost if it contains no other loop:

    .LBB0_8:                                     <- the label that the jump goes to
            vmovups     (%rax,%r9,4), %ymm4
            vfmadd231ps (%rcx,%r9,4), %ymm4, %ymm0
            addq        $8, %r9
            cmpq        %r9, %rdx
            jne         .LBB0_8                  <- the jump backwards

A compiler makes several loops of one: a wide one, and narrow ones for the rest of the array. ``hottest`` is the one
that computes the most numbers a turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lockstep.cpu.instruction_level_parallelism import Chain, carried_chains

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
    """One machine instruction: its ``mnemonic`` and operands as printed. ``arm``: aarch64, and not x86-64."""

    mnemonic: str
    operands: tuple[str, ...]
    arm: bool = False

    def __str__(self) -> str:
        return f"{self.mnemonic:<12} {', '.join(self.operands)}".rstrip()

    @property
    def target(self) -> str:
        """The label that it jumps to; empty for other instructions."""
        return self.operands[-1] if self.operands and _JUMPS.match(self.mnemonic) else ""

    @cached_property
    def _arithmetic(self) -> re.Match[str] | None:
        return (_ARM if self.arm else _X86).match(self.mnemonic)

    @property
    def is_arithmetic(self) -> bool:
        """Whether it is floating-point arithmetic."""
        return self._arithmetic is not None

    @property
    def multiplies(self) -> bool:
        """Whether it multiplies, with or without a fused addition."""
        return self.is_arithmetic and any(part in self.mnemonic for part in ("mul", "madd", "msub", "mla", "mls"))

    @property
    def element_bits(self) -> int:
        """The width of one number: 32 for float32, 64 for float64; 0 if it is no arithmetic."""
        if not self._arithmetic:
            return 0
        if not self.arm:
            return _BITS[self._arithmetic[3]]
        return _BITS[self._shape[1]]

    @property
    def lanes(self) -> int:
        """The SIMD lanes that it computes: 1 if it is scalar, 0 if it is no arithmetic."""
        if not self._arithmetic:
            return 0
        if self.arm:
            return self._shape[0]
        return self.register_bits // self.element_bits if self._arithmetic[2] == "p" else 1

    @property
    def register_bits(self) -> int:
        """The width of its widest vector register: 128 (xmm, NEON), 256 (ymm) or 512 (zmm)."""
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
        """What it writes: registers, or a memory operand as printed. Empty for jumps and compares."""
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
        """The registers and memory operands whose *values* it reads, without the registers of an address."""
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
    """``%ymm4`` → "v4", ``v4.4s`` → "v4", ``s4`` → "v4"; memory operands and other registers as printed."""
    vector = re.match(r"%[xyz]mm(\d+)", operand) or _vector_register(operand)
    return f"v{vector[1]}" if vector else operand


def _vector_register(operand: str) -> re.Match[str] | None:
    return re.match(r"[vqdshbz](\d+)(?:\.\d*[bhsd])?(?:\[\d+\])?$", operand)


# ---- loops

_LABEL = re.compile(r'^("?[.\w$@]+"?):')
_WRAPPERS = ("_ZN7cpython", "_ZN5cfunc", "cfunc.", "NRT_", "numba_", "__numba")  # code that numba adds


@dataclass(frozen=True)
class Loop:
    """One innermost loop. All counts are per turn."""

    instructions: tuple[Instruction, ...]
    function: str = ""  # the mangled name of its function

    def __str__(self) -> str:
        return "\n".join(f"    {i}" for i in self.instructions)

    @cached_property
    def arithmetic(self) -> list[Instruction]:
        return [i for i in self.instructions if i.is_arithmetic]

    @property
    def lanes(self) -> int:
        """SIMD lanes: the numbers that one arithmetic instruction computes; 1 in scalar code, 0 without arithmetic."""
        return max((i.lanes for i in self.arithmetic), default=0)

    @property
    def element_bits(self) -> int:
        """The width of the widest numbers in its arithmetic: 32 for float32, 64 for float64."""
        return max((i.element_bits for i in self.arithmetic), default=0)

    @property
    def register_bits(self) -> int:
        """The width of the vector registers of its arithmetic: 128, 256 or 512."""
        return max((i.register_bits for i in self.arithmetic), default=0)

    @property
    def operations(self) -> int:
        """Numbers computed per turn: the lanes of all arithmetic instructions."""
        return sum(i.lanes for i in self.arithmetic)

    @property
    def loads(self) -> int:
        return sum(i.loads for i in self.instructions)

    @property
    def stores(self) -> int:
        return sum(i.stores for i in self.instructions)

    @cached_property
    def chains(self) -> list[Chain]:
        """The independent loop-carried dependency chains: the accumulators."""
        return carried_chains(self.instructions)

    @property
    def steps(self) -> int:
        """The arithmetic instructions per turn on the longest chain: each waits for the one before."""
        return self.chains[0].steps if self.chains else 0

    @property
    def products(self) -> int:
        """Numbers multiplied per turn; numbers computed, if it does not multiply."""
        return sum(i.lanes for i in self.arithmetic if i.multiplies) or self.operations

    @property
    def accumulators(self) -> float:
        """How many accumulating instructions can be in flight at once: products per step of the longest chain, divided
        by the lanes that one instruction accumulates. 0 if nothing is accumulated."""
        return self.products / self.steps / self.chains[0].lanes if self.chains else 0.0


def is_readable(text: str) -> bool:
    """Whether this is machine code for x86-64 or aarch64."""
    return _is_arm(text) or bool(re.search(r"%r[a-d]x|%r\d+|%rdi|%rsp", text))


def innermost_loops(text: str) -> list[Loop]:
    """The innermost loops of all functions in the compiler's output ``text``, without numba's wrappers."""
    arm = _is_arm(text)
    return [loop for name, lines in _functions(text) for loop in _loops_of(name, lines, arm)]


def hottest(loops: Sequence[Loop]) -> Loop | None:
    """The loop that computes the most numbers per turn; None if no loop computes."""
    busy = [loop for loop in loops if loop.operations]
    return max(busy, key=lambda loop: loop.operations, default=None)


def calls(text: str) -> list[str]:
    """The symbols in the code of the functions: what it may call."""
    names = {
        m[1] for _, lines in _functions(text) for line in lines for m in re.finditer(r"\$?([A-Za-z_][\w.]{3,})", line)
    }
    return sorted(names)


def widths(text: str) -> list[int]:
    """Of the floating-point numbers that the functions compute with, in bits: [32, 64]."""
    arm = _is_arm(text)
    found = (_instruction(line, arm) for _, lines in _functions(text) for line in lines)
    return sorted({one.element_bits for one in found if one and one.is_arithmetic})


def _is_arm(text: str) -> bool:
    return (
        bool(re.search(r"^\s+(?:ldr|ldp|stp|ldur|fadd|cbz)\S*\s+[\[xwsdqv]\d*", text, re.MULTILINE))
        and "%r" not in text
    )


def _functions(text: str) -> list[tuple[str, list[str]]]:
    """(name, lines) of each function that is not a wrapper of numba's."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label and not _is_local(label[1]):
            found.append((label[1].strip('"'), []))
        elif found:
            found[-1][1].append(line)
    return [
        (name, lines)
        for name, lines in found
        if not name.lstrip("_").startswith(tuple(w.lstrip("_") for w in _WRAPPERS))
    ]


def _is_local(label: str) -> bool:
    return label.startswith((".L", "LBB", "Ltmp", "lCPI", "LCPI", "L", "l_"))


def _loops_of(function: str, lines: Sequence[str], arm: bool) -> list[Loop]:
    """The innermost loops of one function. A jump back to the function's epilogue is none: compilers may place that
    first."""
    instructions: list[Instruction] = []
    places: dict[str, int] = {}  # label → the instruction that follows it
    for line in lines:
        label = _LABEL.match(line)
        if label:
            places[label[1]] = len(instructions)
        elif parsed := _instruction(line, arm):
            instructions.append(parsed)
    spans = [(places[i.target], at) for at, i in enumerate(instructions) if places.get(i.target, at + 1) <= at]
    inner = [s for s in spans if not any(o != s and s[0] <= o[0] and o[1] <= s[1] for o in spans)]
    bodies = [tuple(instructions[first : last + 1]) for first, last in inner]
    return [Loop(body, function) for body in bodies if not any(i.mnemonic.startswith("ret") for i in body)]


def _instruction(line: str, arm: bool) -> Instruction | None:
    """None for directives, comments and empty lines."""
    code = re.split(r"(?:^|\s)(?://|;)" if arm else r"(?:^|\s)#", line)[0].strip()
    if not code or code.startswith("."):
        return None
    mnemonic, _, rest = code.partition("\t") if "\t" in code else code.partition(" ")
    return Instruction(mnemonic, tuple(_operands(rest)), arm)


def _operands(text: str) -> list[str]:
    """Operands, split at the commas that are not inside brackets."""
    return [part.strip() for part in re.split(r",(?![^(\[{]*[)\]}])", text) if part.strip()]
