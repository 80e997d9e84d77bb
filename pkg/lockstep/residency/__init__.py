"""How many bytes of tensors are alive on a rank, and what they are, in any world.

``book``       which storages are alive, and what each of them is
``belongings`` what belongs to whom: the hooks of modules, optimizers and storages that tell the book
``leaves``     the tensors in what a program holds
``stretch``    the same of a piece of a rank's program
``reckoning``  from the book of a whole run to its peaks
"""

from lockstep.residency.belongings import Hooks
from lockstep.residency.book import Residency
from lockstep.residency.stretch import booked, peak_of

__all__ = ["Hooks", "Residency", "booked", "peak_of"]
