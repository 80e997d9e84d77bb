"""From the authors' text sources to notebooks, and from a learner's notebook to a grade.

The course and its notebooks (``lockstep build``, ``lockstep lab``):

    course              the units: where each is, and what it has
    course_map          the front page: every unit, what the learner has done of it, where to go on
    course_progress     what is done of each lesson: predicted, written, answered; and what came out
    material            which files of the course a learner gets
    working_folder      the learner's own copy of the notebooks, which is never written over
    build               text sources to notebooks: lessons, labs, solved labs
    text_notebook       the reader of a source: a py:percent notebook whose cells have tags
    lesson_parts        splits a lesson into what is seen and what stays hidden until the learner has acted
    lesson_rules        a lesson's cells: what must be so that they run in any order of opening
    lesson_counts       minutes, words and lines of a lesson, and their limits
    lab_rules           a lab's cells: what must be so that nbgrader grades them fairly
    hints               three hints for an exercise, each folded inside the one before
    release             a solved lab to a student's lab, by nbgrader's preprocessors
    glossary            docs/glossary.md, from the maps of the packages
    coverage_sheet      docs/coverage.md: which topic of the lecture notes is taught where

Grading (``lockstep grade``), from the class down to one answer:

    grade_class         all submissions to a lab, several at a time, by worker processes (judges)
    grade_submission    a judge: one submission, exercise by exercise, each answer in a sandbox of its own
    submission          reads the notebook that was handed in, and restores given cells that were changed
    suspicious_code     code in an answer that reaches for the grader: a note for the teacher, no verdict
    result_writer       writes results, gradebook and feedback; holds what a full disk refuses, and tries again
    class_list          the results of a class, one file a student, and the table (CSV)
    gradebook           the one writer to nbgrader's gradebook
    feedback            the page of HTML that a learner gets back
    lms_list            the class as Moodle or Canvas has exported it, and whose row is whose
    lms_grades          grades as Moodle's or Canvas' gradebook imports them
    atomic_write        files that are written whole or not at all
    temporary_folder    a folder for the judges' files, removed even if the grader is killed

What the teacher is shown:

    run_summary         the last lines of a run: who has no grade, what was not written, who is late
    class_answers       what a class got wrong, the most frequent first
    similar_answers     answers that are alike beyond what the lab gives (plagiarism), no verdict
    viva                two questions for each learner's oral examination (viva)
    viva_questions      what can be asked about a run, from its trace

The sandbox of one answer:

    sandbox             how a process enters one: namespaces, limits, no capabilities
    sandbox_view        its file system: Python, the system's libraries and Lockstep, read-only
    sandbox_filter      its system calls: a seccomp filter
    sandbox_worker      the process inside, which carries out runs
    sandbox_host        the judge's side: starts a sandbox, asks it for runs, ends it when it takes too much
    sandbox_messages    how results come out: JSON and tensors, never pickles
    sandbox_check       which kind of sandbox this machine allows
    bubblewrap          the other kind, made by ``bwrap``
    hidden_answers      the library's own answers, which a sandbox doesn't show
    syscalls            Linux system calls that Python has no names for
"""
