"""Parallel machine learning on one machine, as scikit-learn and joblib do it: the textbook of unit 01.

One idea a module: ``usage`` (who did the work?), ``knobs`` (OpenMP, BLAS, n_jobs, one at a time), ``parallelism``
(name the kind), ``forest``, ``kmeans``, ``search`` (map with joblib, then reduce), ``nested`` (threads alive at once),
and ``audit``, which measures which estimators of scikit-learn run in parallel. Nothing here imports scikit-learn until
it is needed.
"""
