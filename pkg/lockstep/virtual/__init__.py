"""The virtual cluster: torch.distributed in virtual time, deterministic, with exact reports of what goes wrong.

``scheduler``  who runs: one rank at a time, always the one with the smallest virtual clock
``operations`` what a rank asked for: sends, receives, its part in a collective
``network``    who is served when: matching, links, ports
``movement``   what a collective does to the tensors
``backend``    the torch.distributed process group on top of these (all private API of torch is here)
``clock``      how long each tensor operation takes on the simulated device
``rank``       what belongs to one rank: its time, its environment, its prints; ``streams``: its random numbers
``modules``    what the learner imports, for each rank anew
``simulation`` all of it together, for one Job; ``child`` runs it in a process that can be killed
``fake``       the same without data: shapes, times and memory (``fake_*``); ``replay`` for what repeats
"""

from lockstep.virtual.cluster_process import run_virtual

__all__ = ["run_virtual"]
