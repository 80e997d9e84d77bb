"""A script as a rank's program, as torchrun would start it: `lockstep run --ranks 4 train.py --lr 0.1`.

A script expects a process of its own: its own ``__main__``, arguments, environment and end. On processes it has that.
On the virtual cluster ranks are threads, and ``lockstep.virtual`` gives each of them what it takes for the process's.

Read in this order:

    script               Script: the file or module, its arguments, and how a rank executes it
    exit_handlers        atexit, for a rank that ends before its process does
    spawned_processes    mp.spawn: under the script runner its processes are the ranks; in run(), it is refused
"""
