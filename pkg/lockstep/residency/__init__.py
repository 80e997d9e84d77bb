"""How many bytes of tensors are alive on a rank, and what they are, in any world.

``book``       which storages are alive, and what each of them is
``belongings`` what belongs to whom: the hooks of modules, optimizers and storages that tell the book
``besides`` what a program keeps that is no tensor: arrays, lists, bytes, files
``leaves``     the tensors in what a program holds
``stretch``    the same of a piece of a rank's program
``reckoning``  from the book of a whole run to its peaks
"""

from lockstep.residency.belongings import Hooks
from lockstep.residency.besides import BESIDES, SMALL
from lockstep.residency.book import Residency
from lockstep.residency.stretch import booked, peak_of, weighed

__all__ = ["BESIDES", "SMALL", "Hooks", "Residency", "booked", "peak_of", "weighed"]
