"""Reading machine code: where its innermost loops are, and what one turn of each does.

A loop is a jump backwards, and innermost if there is no other inside it:

    .LBB0_8:                                     <- the label that the jump goes to
            vmovups     (%rax,%r9,4), %ymm4
            vfmadd231ps (%rcx,%r9,4), %ymm4, %ymm0
            addq        $8, %r9
            cmpq        %r9, %rdx
            jne         .LBB0_8                  <- the jump backwards

A compiler makes several loops of one: a wide one, and narrow ones for the rest of the array. ``hottest`` is the one
that handles the most numbers a turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lockstep.cpu.dataflow import Chain, carried_chains
from lockstep.cpu.machine_instructions import Instruction

_LABEL = re.compile(r'^("?[.\w$@]+"?):')
_WRAPPERS = ("_ZN7cpython", "_ZN5cfunc", "cfunc.", "NRT_", "numba_", "__numba")  # not what the learner wrote


@dataclass(frozen=True)
class Loop:
    """One innermost loop. What is counted is one turn of it."""

    instructions: tuple[Instruction, ...]
    function: str = ""  # the mangled name of the function that it is in

    def __str__(self) -> str:
        return "\n".join(f"    {i}" for i in self.instructions)

    @cached_property
    def arithmetic(self) -> list[Instruction]:
        return [i for i in self.instructions if i.is_arithmetic]

    @property
    def lanes(self) -> int:
        """Numbers that one arithmetic instruction computes; 1 is scalar code, 0 a loop that does not compute."""
        return max((i.lanes for i in self.arithmetic), default=0)

    @property
    def element_bits(self) -> int:
        """32 for float32, 64 for float64: the widest that it computes with."""
        return max((i.element_bits for i in self.arithmetic), default=0)

    @property
    def register_bits(self) -> int:
        """The width of the vector registers that it computes in: 128, 256 or 512."""
        return max((i.register_bits for i in self.arithmetic), default=0)

    @property
    def operations(self) -> int:
        """Numbers computed a turn: lanes, summed over the arithmetic."""
        return sum(i.lanes for i in self.arithmetic)

    @property
    def loads(self) -> int:
        return sum(i.loads for i in self.instructions)

    @property
    def stores(self) -> int:
        return sum(i.stores for i in self.instructions)

    @cached_property
    def chains(self) -> list[Chain]:
        """Accumulators: values that one turn hands to the next through arithmetic, each independent of the others."""
        return carried_chains(self.instructions)

    @property
    def steps(self) -> int:
        """How many arithmetic instructions of a turn wait for one another: those of the longest chain."""
        return self.chains[0].steps if self.chains else 0

    @property
    def products(self) -> int:
        """Numbers multiplied a turn; numbers computed, if it does not multiply."""
        return sum(i.lanes for i in self.arithmetic if i.multiplies) or self.operations

    @property
    def accumulators(self) -> float:
        """How many accumulating instructions may be under way at once: products for each step of the longest chain,
        divided by the lanes that one instruction accumulates. 0 if nothing is accumulated."""
        return self.products / self.steps / self.chains[0].lanes if self.chains else 0.0


def is_readable(text: str) -> bool:
    """Whether this is machine code of a kind that is read here: x86-64 or aarch64."""
    return _is_arm(text) or bool(re.search(r"%r[a-d]x|%r\d+|%rdi|%rsp", text))


def innermost_loops(text: str) -> list[Loop]:
    """The innermost loops of all functions in the compiler's output ``text``, wrappers left out."""
    arm = _is_arm(text)
    return [loop for name, lines in _functions(text) for loop in _loops_of(name, lines, arm)]


def hottest(loops: Sequence[Loop]) -> Loop | None:
    """The loop that computes the most numbers a turn; None if no loop computes."""
    busy = [loop for loop in loops if loop.operations]
    return max(busy, key=lambda loop: loop.operations, default=None)


def calls(text: str) -> list[str]:
    """Symbols that the functions' code names: what it may call."""
    names = {
        m[1] for _, lines in _functions(text) for line in lines for m in re.finditer(r"\$?([A-Za-z_][\w.]{3,})", line)
    }
    return sorted(names)


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
    """A jump back to the function's end is no loop: a compiler puts that in front where it likes."""
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
    """Split at the commas that are not inside brackets."""
    return [part.strip() for part in re.split(r",(?![^(\[{]*[)\]}])", text) if part.strip()]
