"""numba's own CUDA simulator runs the lab's kernels: a session that answers one request a line.

usage: NUMBA_ENABLE_CUDASIM=1 with_cuda_simulator.py SIZE
Each line of input is the name of a case; each line of output is the seconds of processor time that it took.
"""

import sys
import time

from numba import cuda

from lockstep.bench.simt_kernels import cases


def main(size: str) -> None:
    known = cases(size)
    for request in sys.stdin:
        case = known[request.strip()]
        arguments = case.arguments()
        kernel = cuda.jit(case.kernel)
        begin = time.process_time()
        kernel[case.grid, case.block](*arguments)
        print(time.process_time() - begin, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
