"""The exercises of unit 01, one file for each, in the order of the lab."""

from lockstep.checks.scikit_learn.classify import CLASSIFY
from lockstep.checks.scikit_learn.forest import FOREST
from lockstep.checks.scikit_learn.kmeans import KMEANS
from lockstep.checks.scikit_learn.oversubscription import OVERSUBSCRIPTION
from lockstep.checks.scikit_learn.search import SEARCH

EXERCISES = (CLASSIFY, FOREST, KMEANS, SEARCH, OVERSUBSCRIPTION)

__all__ = ["EXERCISES"]
