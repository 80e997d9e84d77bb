"""What all worlds share of communication: one Operation, one Matcher, the rules of each backend.

The virtual cluster posts its operations to a Matcher as they happen. Real ranks write theirs to journals, which are
posted to a Matcher afterwards. So the same code finds and reports a mismatch or a deadlock in every world.

Read in this order:

    operation          one communication of one rank: an end of a message, or its part in a collective
    matcher            which operations belong together: send and receive, the parts of a collective
    posted             what the calling rank has posted so far
    mismatch           whether operations that met fit together: kind, size, dtype, reduction, root
    backend_rules      what a program may rely on: rendezvous (gloo), eager sends (MPI), ordered queues (NCCL)
    rank_variables     RANK, WORLD_SIZE and the other variables from which a program takes its rank
    exits              how a rank ended without returning, and which end caused the others
    memory_kills       whether the kernel has killed a process for want of memory
    output             what ranks print, line by line, each with its rank
    restricted_pickle  unpickling that creates plain data only: what a rank's process sends is not trusted
"""
