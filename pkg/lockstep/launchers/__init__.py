"""Ranks that a launcher has started: torchrun, srun, mpirun, mpiexec, horovodrun.

Read in this order:

    detection  which launcher started this process, its rank and world size, and where rank 0 is
    spmd       run() in such a process: every rank executes the same line of the same file
    spmd_rank  one rank's part in a run: execute, share the outcome, reach the same verdict as all others
    outcomes   the exchange of outcomes through the group's store, and ranks that are gone or stopped
"""
