"""Domain decomposition: each rank has a region of space, and of its neighbours' regions only the edge.

Taught in unit 12. Read in this order:

    halo_exchange  halo exchange
    advection      advection
"""

from lockstep.domain_decomposition.advection import advect
from lockstep.domain_decomposition.halo_exchange import Blocks, with_halo

__all__ = ["Blocks", "advect", "with_halo"]
