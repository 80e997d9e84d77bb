"""Writes what judges find: kept results, gradebook, feedback.

What cannot be written now, because a disk is full, say, is held and tried again after each result that can, and once
more at the end. The class goes on meanwhile. What is still held when the grader ends is reported, and nothing is
lost: the next run writes it, or grades it anew.
"""

from __future__ import annotations

from dataclasses import replace

from lockstep.grading.atomic_write import Unwritten, write_atomically
from lockstep.grading.class_list import ClassList
from lockstep.grading.feedback import page
from lockstep.grading.grade_submission import Result
from lockstep.grading.gradebook import Book
from lockstep.grading.submission import WRONG_FORMAT


class ResultWriter:
    """The writer for one lab of the course. ``unwritten``: what could not be written, and why, by student."""

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
        """A submission that cannot be read replaces the one before it, and its grade: the result says so."""
        if result.status != WRONG_FORMAT or result.taken_back:
            return result
        before = self.book.grade(result.student) or self.class_list.taken_back(result.student)
        if not before:
            return result
        told = f"What was handed in before had {before} points: they do not count while the last one cannot be read."
        return replace(result, taken_back=before, notes=[*result.notes, told])

    def _write(self, result: Result, kept: bool) -> None:
        """In this order: the kept result first, so that the next run can write the rest; feedback last, by which it is
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
            write_atomically(file.with_name(name), text)
        write_atomically(file, page(result, class_list.lab))
