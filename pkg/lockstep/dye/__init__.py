"""Who is in the result? A collective's own answer, read off dyed tensors: no knowledge of the exercise is needed.

    dyed = dye(ring_all_reduce, ranks=4)      run the function on dyed tensors
    dyed.rows[2][0]                           what element 0 of rank 2 is made of
    told(dyed, total(dyed))                   "Element 0 of rank 2 holds rank 0's and rank 2's; rank 1 is missing."
    profile(dyed, "rotation")                 the same for a ring that turns the other way
    show.xray(dyed)                           the picture

Like a dye in a river: poured in at one place, it shows where the water goes. ``experiment`` runs the function,
``digits`` says what is poured in and reads it again, ``dyed`` is what was found, as plain data, ``wanted`` what should
have been found, ``flaw`` what differs, ``told`` its sentence, and ``profile`` a form in which the same mistake is
written the same.
"""

from lockstep.dye.dyed import Cell, Dyed, Part, Row
from lockstep.dye.experiment import dye
from lockstep.dye.flaw import Flaw, find_flaw
from lockstep.dye.profile import profile
from lockstep.dye.told import told
from lockstep.dye.wanted import Wanted, average, like, only_at, shifted, tensor_of, total

__all__ = [
    "Cell",
    "Dyed",
    "Flaw",
    "Part",
    "Row",
    "Wanted",
    "average",
    "dye",
    "find_flaw",
    "like",
    "only_at",
    "profile",
    "shifted",
    "tensor_of",
    "told",
    "total",
]
