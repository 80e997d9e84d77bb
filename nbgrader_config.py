"""nbgrader on this tree: run plain `nbgrader` commands in this folder.

`lockstep build` makes solutions/ and labs/; nbgrader grades what comes back. Everything that is about people
(submissions, the gradebook, feedback) lies under grading/, which git ignores.

NBGRADER_EXCHANGE names the folder through which labs are handed out and in (here: exchange/).
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from lockstep.grading.release import steps

root = Path(__file__).resolve().parent
private = root / "grading"
exchange = Path(os.environ.get("NBGRADER_EXCHANGE", root / "exchange"))

c = get_config()  # noqa: F821  (traitlets puts it there)

c.CourseDirectory.course_id = "lockstep"
c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.db_url = f"sqlite:///{private / 'gradebook.db'}?timeout=60"

c.Exchange.root = str(exchange)
c.Exchange.assignment_dir = str(root / "labs")  # `nbgrader submit` hands in what stands in labs/

# A check stops by itself after about half a minute; this is for other cells that do not end.
c.Execute.timeout = 120
c.Execute.startup_timeout = 120

# nbgrader's own steps, and one more: a function that is given broken is what a student finds in the answer cell.
c.GenerateAssignment.preprocessors = steps()

# nbgrader starts `alembic` by its bare name, which only an activated environment finds.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])

with suppress(OSError):  # a learner's copy may be read-only: then there is nothing to grade here
    private.mkdir(exist_ok=True)
    exchange.mkdir(exist_ok=True)
