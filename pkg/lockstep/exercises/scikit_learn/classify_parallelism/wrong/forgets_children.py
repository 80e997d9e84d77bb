"""The learner thought: work that is shared is done by helpers."""

MISCONCEPTION = "forgets-children"
TELL = "Fits that hand their work to other processes are serial for you. That work is in .children."


def classify_parallelism(measure):
    def helped(run):
        return run.helpers / (run.main + run.helpers + 1e-9)

    alone = helped(measure())
    for knob, kind in (("openmp", "openmp"), ("blas", "blas"), ("n_jobs", "threads")):
        if helped(measure(**{knob: 2})) - alone >= 0.25:
            return kind
    return "serial"
