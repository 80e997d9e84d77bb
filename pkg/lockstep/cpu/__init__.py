"""Inside a CPU: kernels compiled by numba, a reader of their machine code, models of caches and of a pipelined core.

Nothing is imported here: numba takes a moment, and most of the library does without it.

Taught in unit 02. Read in this order:

    saxpy                          SAXPY; SIMD
    dot                            dot product; accumulators
    matmul                         blocked (matrix product)
    threads                        false sharing; race; atomic
    roofline                       roofline; arithmetic intensity
    roofline_points                (operations and bytes of five kernels)
    instruction_level_parallelism  latency (additions in a core; dependency chains of a loop)
    memory_traffic                 cache; misses; cache line (and how it moves from core to core)
    compiled                       (the machine code that numba's compiler wrote)
    assembly                       register (innermost loops of machine code)
    tracing                        (a compiled function run as plain Python on arrays that record every access)
    rebound                        (a function with other globals)
"""
