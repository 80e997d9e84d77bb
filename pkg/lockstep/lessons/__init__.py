"""Lessons that let the learner act: cells wait until a number is committed, a line is right, a reason is written.

What a learner calls:

    predictions       predict() and reconcile(): a number to commit to; later, what was simulated and measured
    turn              your_turn(): one to three lines of code
    turn_judge        compares them with the author's solution, case by case
    quiz              quiz(): a short question with a checked answer
    horovod_button    horovod_ready(): a button that builds Horovod

How cells wait:

    after             ``%%after NAME``: a cell that runs by itself once NAME is open
    session           the lesson in this kernel: which names are open, which cells wait
    behind            what the build took out of a lesson: paragraphs, solutions, answers, as JSON
    curtain           what a waiting cell shows: the reason, and a button that opens it all the same
    words             figures that consist of words
    running           a line that counts the seconds of a cell that says nothing

``lockstep build`` splits a lesson into what is seen (the notebook) and what is behind (``<topic>.json`` here). Hidden
is not secret: nothing in a lesson is graded. An answer is only never where a learner would read it by chance.
"""

from lockstep.lessons.after import begin, told
from lockstep.lessons.horovod_button import horovod_ready
from lockstep.lessons.predictions import predict, reconcile
from lockstep.lessons.quiz import quiz
from lockstep.lessons.turn import your_turn

__all__ = ["begin", "horovod_ready", "predict", "quiz", "reconcile", "told", "your_turn"]
