"""Running ranks as processes of this machine, and finding out why a run does not end, or how it ended.

Read in this order:

    job                 what a rank needs to run the learner's function, as bytes
    processes           run() on processes: start ranks, listen to them, report how each ended
    rank_process        what one rank does: join the group, run the function under the Recorder, send the result
    joining             joining and leaving a process group; the choice of backend (gloo, NCCL) and device
    store               the rendezvous store of the ranks of one machine: a FileStore that is polled more often
    init_process_group  a program's own call of it, in a rank whose group exists already
    pickled             arguments and results as bytes
    watchdog            deadlock detection from outside: CPU time, stacks, journals
    busy_polling        ranks that only call is_completed()
    post_mortem         what went wrong, from journals, stacks, exceptions and exit statuses
    deadline            the time limit inside a rank that no process watches
    interrupt           Ctrl-C, deferred while processes are started or ended
"""
