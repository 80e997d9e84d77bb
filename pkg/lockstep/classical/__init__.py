"""Parallel machine learning on one machine, as scikit-learn and joblib do it.

Nothing here imports scikit-learn until it is needed.

Taught in unit 01. Read in this order:

    usage        (CPU seconds: which threads and processes did the work of a call)
    knobs        n_jobs; OpenMP; BLAS (one at a time)
    parallelism  (which knob makes a fit parallel)
    pool         (workers that compute rows in virtual time)
    assignment   static; dynamic (who computes which row)
    forest       forest
    kmeans       k-means
    grid_search  grid search
    nested       oversubscription
    audit        (which estimators of scikit-learn run in parallel)
"""
