"""Every measurement is the median of three, for a busy machine."""

from statistics import median


def classify_parallelism(measure):
    def typical(**knobs):
        runs = [measure(**knobs) for _ in range(3)]
        return median(r.elsewhere for r in runs), median(r.children - r.helpers for r in runs)

    alone, before = typical()
    rows = [(typical(openmp=2), "openmp", "openmp"), (typical(blas=2), "blas", "blas")]
    rows.append((typical(n_jobs=2), "processes", "threads"))
    (share, surplus), by_children, by_helpers = max(rows)
    if share - alone < 0.25:
        return "serial"
    return by_children if surplus > before else by_helpers
