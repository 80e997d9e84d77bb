"""Inside a CPU: kernels compiled by numba, a reader of their machine code, models of caches.

Nothing is imported here: numba takes a moment, and most of the library does without it.

Taught in unit 02. Read in this order:

    saxpy                 SAXPY; SIMD
    dot                   dot product; accumulators
    matmul                blocked (matrix product)
    sums                  false sharing
    threads               race (threads that add to one counter)
    roofline              roofline; arithmetic intensity
    roofline_points       (operations and bytes of five kernels)
    pipelined             latency (additions in a core, cycle by cycle)
    cache                 cache; misses
    coherence             cache line (that moves from core to core)
    compiled              (what numba's compiler wrote)
    assembly              register (innermost loops of machine code)
    machine_instructions  (one line of machine code)
    dataflow              (which values a turn of a loop waits for)
    traced                (arrays that write down every access)
    tracing               (a compiled function run as plain Python)
    memory_traffic        (misses and lines of a kernel)
    rebound               (a function with other globals)
"""
