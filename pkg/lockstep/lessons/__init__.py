"""Lessons that let the learner act: what waits until a number is committed, a line is right, a reason is written.

``lockstep build`` parts a lesson into what is seen (the notebook) and what is behind (``<topic>.json`` in this folder).
Hidden is not secret: nothing in a lesson is graded. An answer only never stands where a learner reads by chance.
"""

from lockstep.lessons.after import begin, told
from lockstep.lessons.horovod import horovod_ready
from lockstep.lessons.predictions import predict, reconcile
from lockstep.lessons.quiz import quiz
from lockstep.lessons.turn import your_turn

__all__ = ["begin", "horovod_ready", "predict", "quiz", "reconcile", "told", "your_turn"]
