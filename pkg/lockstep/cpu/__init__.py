"""Inside a CPU: kernels compiled by numba, a reader of their machine code, models of caches, the roofs of this core.

    saxpy, dot, matmul, sums      the kernels of the unit, naive beside fast
    instructions, dataflow,
    assembly, compiled            what the compiler made of a kernel: vector registers, independent chains
    traced, tracing, cache,
    coherence                     what a kernel does to memory: addresses, misses, lines that cores take from each other
    roofline, kernels, roofs      what a core could reach, and how near a kernel comes

Nothing is imported here: numba takes a moment, and most of the library does without it.
"""
