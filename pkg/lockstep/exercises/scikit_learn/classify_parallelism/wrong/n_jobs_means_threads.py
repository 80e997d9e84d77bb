"""The learner thought: n_jobs is the number of threads."""

MISCONCEPTION = "n_jobs-is-threads"
TELL = "You answer threads wherever n_jobs counts. It may start processes, too: which of .children and .helpers grows?"


def classify_parallelism(measure):
    alone = measure().elsewhere
    shares = {
        "openmp": measure(openmp=2).elsewhere - alone,
        "blas": measure(blas=2).elsewhere - alone,
        "threads": measure(n_jobs=2).elsewhere - alone,
    }
    kind = max(shares, key=shares.get)
    return kind if shares[kind] >= 0.25 else "serial"
