"""Real Horovod, from a cell: built for the installed torch, its ranks processes of ``lockstep.run``."""
