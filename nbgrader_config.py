"""nbgrader on this tree: run plain `nbgrader` commands in this folder.

`lockstep build` makes solutions/ and labs/; nbgrader grades what comes back. Everything that is about people
(submissions, the gradebook, feedback) lies under grading/. Keep that out of git: a clone of Lockstep has it in its
.gitignore, and a course of your own needs a line `/grading/` in its own.

A learner's working folder has a copy of this file: there, and here, `nbgrader submit` hands in what the learner has
written. NBGRADER_EXCHANGE names the folder through which labs are handed out and in (else it is exchange/ in the
course's own folder, and without one nbgrader's own choice).
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from lockstep.grading.course import PACKED
from lockstep.grading.course import root as course
from lockstep.grading.release import steps

root = Path(__file__).resolve().parent
home = course(root)  # the course's own folder, where a teacher grades
private = root / "grading"
exchange = os.environ.get("NBGRADER_EXCHANGE") or ("" if home == PACKED else str(home / "exchange"))

c = get_config()  # noqa: F821  (traitlets puts it there)

c.CourseDirectory.course_id = "lockstep"
c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.db_url = f"sqlite:///{private / 'gradebook.db'}?timeout=60"

# What lies in a lab's folder and is not handed in: the last is a version that came beside the learner's own.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.new*.ipynb"]
c.Exchange.assignment_dir = str((root / "my-course" if root == home else root) / "labs")
if exchange:
    c.Exchange.root = exchange

# A check stops by itself after about half a minute; this is for other cells that do not end.
c.Execute.timeout = 120
c.Execute.startup_timeout = 120

# nbgrader's own steps, and one more: a function that is given broken is what a student finds in the answer cell.
c.GenerateAssignment.preprocessors = steps()

# nbgrader starts `alembic` by its bare name, which only an activated environment finds.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])

if root == home:
    with suppress(OSError):  # it may be read-only: then there is nothing to grade here
        private.mkdir(mode=0o700, exist_ok=True)
        Path(exchange).mkdir(exist_ok=True)
