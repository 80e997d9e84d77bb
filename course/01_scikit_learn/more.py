# %% [markdown]
# # 01 scikit-learn and joblib: more
#
# Five things for which [the lesson](lesson.ipynb) has no room.

# %%
import logging
import os
import subprocess
import sys
from functools import partial

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import BallTree, KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from lockstep.classical.knobs import measuring
from lockstep.classical.usage import usage

# %% [markdown]
# ## One estimator, two algorithms
#
# An estimator that has `n_jobs` need not use it. Nearest neighbours, by brute force and with a tree:

# %%
rng = np.random.default_rng(0)
points, labels = rng.random((4000, 20)), rng.integers(2, size=4000)


def predictions(algorithm, n_jobs):
    found = KNeighborsClassifier(algorithm=algorithm, n_jobs=n_jobs).fit(points, labels)
    return found.predict(points[:2000])


for algorithm in ("brute", "kd_tree"):
    measure = measuring(partial(predictions, algorithm))
    measure(2, 2, 2)
    for knobs in ({}, {"openmp": 2}, {"n_jobs": 2}):
        u = measure(**knobs)
        print(f"{algorithm:<8} {knobs!s:<14} main {u.main:6.3f} s   helpers {u.helpers:6.3f} s")

# %% [markdown]
# Brute force uses OpenMP and ignores `n_jobs`. With a tree it is the other way round: two threads of joblib search, and
# the calling thread only waits.

# %% [markdown]
# ## Look for something cheaper first
#
# Two pairs that solve the same problem, on one thread. Both kinds of boosting may grow 31 leaves a tree:

# %%
X, y = make_classification(2000, 20, n_informative=10, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
for estimator in (
    RandomForestClassifier(20, random_state=0),
    ExtraTreesClassifier(20, random_state=0),
    GradientBoostingClassifier(n_estimators=40, max_depth=None, max_leaf_nodes=31),
    HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=31, early_stopping=False),
):
    with threadpool_limits(1):
        u = usage(partial(estimator.fit, X_train, y_train))
    name = type(estimator).__name__
    print(f"{name:<32} {u.cpu:5.2f} s of CPU time, accuracy {estimator.score(X_test, y_test):.3f}")

# %% [markdown]
# Extra trees draw their thresholds at random instead of searching for the best. Histograms look at 255 bins instead of
# all values: the more rows there are, the more that saves. Does the second of a pair take less than half the time? Then
# it beats a second core. And it can use two cores as well.

# %% [markdown]
# ## Threads that burn time without working
#
# A thread of BLAS that has nothing to do does not sleep at once. It **spins**: it asks again and again whether there
# is work. If work comes, it is quicker. If not, the time is lost, for other programs too. `OPENBLAS_THREAD_TIMEOUT` says
# how long, as a power of two in cycles. It is read when the library loads, so each try needs a fresh process:

# %%
PROGRAM = """
import time
import numpy as np
from threadpoolctl import threadpool_limits
a = np.random.default_rng(0).random((300, 300))
with threadpool_limits(2, user_api="blas"):
    a @ a
    total = 0.0
    for _ in range(10):
        a @ a                          # work for two threads
        start, main = time.process_time(), time.thread_time()
        time.sleep(0.03)               # nothing to do for anybody
        total += (time.process_time() - start) - (time.thread_time() - main)
print(f"{max(total, 0):.3f} s of CPU time in 0.3 s in which there was nothing to do")
"""
for timeout in ("", "4"):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    environment.pop("OPENBLAS_THREAD_TIMEOUT", None)
    if timeout:
        environment["OPENBLAS_THREAD_TIMEOUT"] = timeout
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    print(f"timeout {timeout or 'as usual'}: {done.stdout.strip()}")

# %% [markdown]
# (With another BLAS, such as Apple's or Intel's, this variable does nothing.) So CPU time elsewhere is not always work.
# The audit has its idle threads put to sleep, and compares with a measurement with every knob at 1.
#
# This is why more BLAS threads can make a fit *slower*. Algorithms with many small products wait at each of them until
# all threads have come.

# %% [markdown]
# ## Threads that disturb each other
#
# A `BallTree` counts how many distances it computed, and all threads add to the same number. A core has to own the 64
# bytes around it, a **cache line**, before it can write, and fetches it from the other core again and again. This is
# **sharing**. It is also a **race**: two threads may read the same number, both add to it, and one addition is lost.

# %%
points = np.random.default_rng(0).random((10_000, 3))
tree = BallTree(points)
parts = np.array_split(points, 4)


def query(part):
    return tree.query(part, k=5)[1].shape


for name, settings in (("threads", {"prefer": "threads"}), ("processes", {})):
    for n_jobs in (1, 2):
        pool = Parallel(n_jobs=n_jobs, **settings)
        pool(delayed(query)(part) for part in parts)
        tree.reset_n_calls()
        u = usage(lambda pool=pool: pool(delayed(query)(part) for part in parts))
        print(f"{n_jobs} {name:<10} {u.cpu:6.3f} s of CPU time; {tree.get_n_calls():,} distances counted here")

# %% [markdown]
# All four compute the same distances. If cores did not disturb each other, time and count of the threads would be the
# same. On a quiet machine two threads need more time than one, and count fewer. On a busy one they seldom run at the same
# moment, and you see little. Processes have a counter each; with `n_jobs=1` joblib starts none, and all is counted here.

# %% [markdown]
# ## Dask
#
# A real cluster on this machine: two worker processes and a scheduler, talking over TCP. The estimator does not change.
# Starting it takes some seconds. On a cluster, only the client's line changes:
# `Client("tcp://address-of-the-scheduler:8786")`. A message costs more there: a large array cannot be memmapped across a
# network.

# %%
X, y = make_classification(400, 20, n_informative=8, random_state=0)
try:
    from dask.distributed import Client, LocalCluster
except ImportError:
    print('Dask is not installed here. To run this cell: pip install "lockstep-lab[dask]"')
else:
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, cv=3)
    two = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**two, silence_logs=logging.ERROR) as cluster, Client(cluster) as client:
        with parallel_config("dask"):
            search.fit(X, y)
        kind = client.scheduler.address.partition(":")[0]
        print("scheduler:", kind, "with", len(client.nthreads()), "workers")
    print("best:", search.best_params_)

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/01_scikit_learn/lab.ipynb).
