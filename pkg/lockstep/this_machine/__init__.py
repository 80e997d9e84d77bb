"""The machine that Lockstep runs on: what it has, how fast it is, and whether everything works here.

Read in this order:

    host      cores and memory that this process may use (affinity, cgroup limits), caches, SIMD, GPUs
    hardware  the layout: NUMA nodes, shared caches, hardware threads; bandwidth of all cores
    measure   microbenchmarks: matrix product, STREAM triad, launch overhead, ping-pong
    survey    this machine as a Cluster, measured once and kept
    doctor    lockstep doctor: each check with its advice
"""
