"""Who writes down what judges find: kept results, gradebook, feedback.

What cannot be written now, because a disk is full, say, is held and tried again after each result that can, and once
more at the end. The class goes on meanwhile. What is held still when the grader ends is told, and nothing is lost by
it: the next run writes it, or grades it anew.
"""

from __future__ import annotations

from dataclasses import replace

from lockstep.grading.class_list import ClassList
from lockstep.grading.feedback import page
from lockstep.grading.gradebook import Book
from lockstep.grading.judging import Result
from lockstep.grading.submission import WRONG_FORMAT
from lockstep.grading.whole_file import Unwritten, replaced


class Clerk:
    """For one lab of the course."""

    def __init__(self, class_list: ClassList, book: Book) -> None:
        self.class_list, self.book = class_list, book
        self.unwritten: dict[str, Unwritten] = {}  # why, by student
        self._held: dict[str, tuple[Result, bool]] = {}

    def write(self, result: Result, kept: bool = False) -> Result:
        """The result as it was written down, or would be. ``kept``: it is of an earlier run."""
        try:
            found, result = result, self._with_what_it_costs(result)
            kept = kept and result is found
            self._write(result, kept)
        except Unwritten as error:
            self._held[result.student], self.unwritten[result.student] = (result, kept), error
            return result
        self.write_what_is_held()
        return result

    def write_what_is_held(self) -> None:
        for student, (result, kept) in list(self._held.items()):
            try:
                self._write(self._with_what_it_costs(result), kept)
            except Unwritten as error:
                self.unwritten[student] = error
            else:
                del self._held[student], self.unwritten[student]

    def _with_what_it_costs(self, result: Result) -> Result:
        """What cannot be read takes the place of what was handed in before, and of its grade: that is told."""
        if result.status != WRONG_FORMAT or result.taken_back:
            return result
        before = self.book.grade(result.student) or self.class_list.taken_back(result.student)
        if not before:
            return result
        told = f"What was handed in before had {before} points: they do not count while the last one cannot be read."
        return replace(result, taken_back=before, notes=[*result.notes, told])

    def _write(self, result: Result, kept: bool) -> None:
        """In this order: what is kept first, so that whoever goes on writes the rest; feedback last, by which it is
        known that all is written."""
        class_list, student = self.class_list, result.student
        if result.final and not kept:
            class_list.keep(result)
        if result.status == WRONG_FORMAT:
            self.book.forget(student)
        elif result.final:
            self.book.write(result, class_list.receipt(student))
        file = class_list.feedback(student)
        for name, text in class_list.receipt_for_all(student).items():
            replaced(file.with_name(name), text)
        replaced(file, page(result, class_list.lab))
