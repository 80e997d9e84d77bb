"""Whose data is in the result of a collective? Found by running it on "dyed" tensors, whatever the algorithm.

    dyed = dye(ring_all_reduce, ranks=4)      run the function on dyed tensors
    dyed.rows[2][0]                           what element 0 of rank 2 is made of
    told(dyed, total(dyed))                   "Element 0 of rank 2 holds rank 0's and rank 2's; rank 1 is missing."
    profile(dyed, "rotation")                 the same for a ring that turns the other way
    show.xray(dyed)                           the picture

Each rank's tensor is "dyed" with numbers that can be told apart in a sum, as a dye in a river shows where its water
goes.

Read in this order:

    dyed_run        dye(): run the function on dyed tensors, and read the results
    encoding        balanced digits: the numbers that make up a dye, and reading them in a sum
    decoding        from the results of all calls to the linear map behind them
    provenance      what was found, as plain data: which rank's element is in which result, and how often
    expected        what a right result holds: sum, average, a rank's tensor, shifted
    flaw            the difference between the two, as facts
    sentences       that difference in a sentence
    rounds          what each rank holds before each round of messages
    canonical_form  profile(): equal for the same mistake, whatever the numbering of ranks (colour refinement)
"""

from lockstep.dye.canonical_form import profile
from lockstep.dye.dyed_run import dye
from lockstep.dye.expected import Wanted, average, like, only_at, shifted, tensor_of, total
from lockstep.dye.flaw import Flaw, find_flaw
from lockstep.dye.provenance import Cell, Dyed, Part, Row
from lockstep.dye.sentences import told

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
