"""Ranks that somebody else has started: torchrun, srun, mpirun, horovodrun. ``detection`` says which of them it was."""
