# %% [markdown]
# # 01 scikit-learn and joblib
#
# You have a machine with several cores, and you call `fit`. Which of your estimators use more than one of them? The
# notes of one course have a table of that. Here are six of its 13 lines, in its words:
#
# | algorithm | parallel support? | notes |
# |:--|:--|:--|
# | RandomForestClassifier/Regressor | ✓ Full | Uses multiple trees |
# | KNeighborsClassifier/Regressor | ✓ Full | Parallelizes distance computations |
# | GradientBoostingClassifier/Regressor | ✗ Limited | Only data parallelism |
# | LinearSVC / LinearSVR | ✗ Limited | Multi-threaded, no n_jobs |
# | DBSCAN / AgglomerativeClustering | ✗ No | Single-threaded |
# | PCA | ✗ No | No parallelism |
#
# "Full" and "limited" both say that several cores work, by the words behind them. "No" says that one does. You measure
# the first estimator of each line, KNeighbors and DBSCAN by brute force. Start with a number of your own.

# %%
from lockstep import predict, reconcile

# %% lesson="predict scikit-learn-claims"
predict(
    "scikit-learn-claims",
    "You measure these six estimators. How many of the six lines will be right?",
    unit="lines",
)

# %% [markdown]
# Commit it. At the end of section 3 you will have measured them.
#
# In the course's formula $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$ a model $A$ takes a step: $\Delta$ is an
# update computed from data, and $F$ brings it into the model. This unit is about the easy ends. A grid search runs
# whole programs, each with an $A$ of its own, side by side. A forest computes many $\Delta$ that need nothing of each
# other. And one step of k-means splits the *data* of one $\Delta$: its parts must be added up.

# %% [markdown]
# ## 1. Three knobs
#
# A fit can run in parallel in three ways, and each has a knob of its own:
#
# - **OpenMP**: loops in scikit-learn's compiled code, on threads. Knob: `OMP_NUM_THREADS`.
# - **BLAS**: the library of matrix products and decompositions, on threads. Knob: `OPENBLAS_NUM_THREADS`, or that of
#   another BLAS.
# - **joblib**: Python functions, on processes or on threads. Knob: `n_jobs`.
#
# The first two are set for you, to the number of cores. `n_jobs` is 1 unless you set it, and −1 means all cores. This
# is loaded here:

# %%
import joblib
import numpy as np
import sklearn.cluster
from threadpoolctl import threadpool_info

print("cores:", joblib.cpu_count())
for pool in threadpool_info():
    print(f"{pool['user_api']:>7}: {pool['internal_api']}, {pool['num_threads']} threads")

# %% [markdown]
# ## 2. Who does the work?
#
# How do you find out whether a fit used several cores? By the clock on the wall? Try it twice on a machine where
# others compute too, and you have two answers.
#
# The operating system counts **CPU time**: for each thread, the seconds in which it really ran. What others do
# changes that only a little. So ask: *who spent the CPU time*, the thread that called `fit`, other threads, or other
# processes?

# %%
from sklearn.cluster import KMeans

from lockstep.classical.knobs import measuring

X = np.random.default_rng(0).random((20_000, 20))
measure = measuring(lambda n_jobs: KMeans(40, init="random", n_init=1, max_iter=10, tol=0).fit(X))
measure(openmp=2, blas=2)  # the first time, libraries load and threads start: not counted


def show_usage(name, u):
    seconds = f"main {u.main:6.3f} s   helpers {u.helpers:6.3f} s   processes {u.children:6.3f} s"
    print(f"{name:<12} {seconds}   elsewhere {u.elsewhere:4.0%}")


for knobs in ({}, {"openmp": 2}, {"blas": 2}):
    show_usage(str(knobs) or "{}", measure(**knobs))

# %% [markdown]
# Turn up one knob at a time. Then you know which one did it. With OpenMP at 2, a helper does about half of the work.
# BLAS changes nothing: inside its loop k-means holds BLAS at one thread, since two kinds of threads would disturb each
# other.
#
# `n_jobs`? `KMeans` has no such parameter any more. An estimator that has one need not use it:

# %%
from functools import partial

from sklearn.neighbors import KNeighborsClassifier

from lockstep import show

rng = np.random.default_rng(0)
points, labels = rng.random((4000, 20)), rng.integers(2, size=4000)


def predictions(algorithm, n_jobs):
    return KNeighborsClassifier(algorithm=algorithm, n_jobs=n_jobs).fit(points, labels).predict(points[:2000])


for algorithm in show.progress(("brute", "kd_tree"), "Measuring", each=2):
    measure = measuring(partial(predictions, algorithm))
    measure(2, 2, 2)
    for knobs in ({}, {"openmp": 2}, {"n_jobs": 2}):
        show_usage(f"{algorithm} {knobs}", measure(**knobs))

# %% [markdown]
# One estimator, two algorithms, two answers. By brute force it uses OpenMP and **ignores `n_jobs`**. With a tree it
# is the other way round: two threads of joblib search, and the calling thread only waits.

# %% [markdown]
# ## 3. The audit
#
# `lockstep audit` does this for every estimator of the notes' table, each in a fresh process. Here are the six, each
# told as soon as it is measured. On a quiet machine one takes about five seconds.

# %% lesson="after scikit-learn-claims"
from lockstep.classical.audit import audit, table

SIX = [
    "RandomForestClassifier",
    "GradientBoostingClassifier",
    "KNeighborsClassifier brute",
    "LinearSVC",
    "DBSCAN brute",
    "PCA full",
]
verdicts = []
for verdict in audit(SIX, rounds=1):
    verdicts.append(verdict)
    print(table.line(verdict))
show.audit(verdicts)

# %% lesson="after scikit-learn-claims"
reconcile("scikit-learn-claims", measured=sum(v.claim_holds for v in verdicts))

# %% [markdown] lesson="reason scikit-learn-claims"
# **Our reason.** Only a measurement says what happens: threads of OpenMP and BLAS work without any parameter, and
# `n_jobs` may be there and do nothing. Below, each line of the notes stands beside what you have measured.

# %% lesson="after scikit-learn-claims"
from IPython.display import Markdown

from lockstep.classical.audit.notes import beside

Markdown(beside(verdicts))

# %% [markdown]
# That is the notes' table, whole. Where no reason stands, the two agree. To measure all 31 estimators and algorithms,
# run `lockstep audit` in a terminal. Or name one of your own: `lockstep audit sklearn.svm:SVC`.

# %% [markdown]
# ## 4. Processes: everything is copied
#
# joblib's `Parallel` calls a function many times, on workers. By default these are processes (the backend is called
# *loky*): each has memory and an interpreter of its own. Arguments travel as bytes, and so does what is returned.

# %%
import os

from joblib import Parallel, delayed

seen = []


def remember(i):
    seen.append(i)
    return f"{i} in process {os.getpid()}"


print(Parallel(n_jobs=2)(delayed(remember)(i) for i in range(4)))
print("this process:", os.getpid(), "and here, seen is", seen)

# %% [markdown]
# The workers appended to *their* lists. Only what a task returns comes back. With `prefer="threads"` there is one
# list:

# %%
Parallel(n_jobs=2, prefer="threads")(delayed(remember)(i) for i in range(4))
print("seen is", sorted(seen))

# %% [markdown]
# ## 5. Threads: one interpreter
#
# Threads need no copies. But the usual build of Python runs its own code in one thread at a time: a thread has to hold
# a lock, the **GIL**. (The free-threaded builds, since 3.13, have none: PEP 703.) NumPy and scikit-learn's compiled
# loops let go of it while they compute. Compare how many cores were busy: CPU time divided by time on the wall. With
# the GIL, Python code in threads does not get above 1. Compiled code can.

# %%
from lockstep.classical.usage import usage


def in_python(n):
    return sum(i * i for i in range(n))


def in_numpy(n):
    return float(np.sin(np.linspace(0, n, 3_000_000)).sum())


def on_two_threads(work, n):
    return Parallel(n_jobs=2, prefer="threads")(delayed(work)(n) for _ in range(8))


for work, n in ((in_python, 400_000), (in_numpy, 5)):
    u = usage(partial(on_two_threads, work, n))
    print(f"{work.__name__:<10} {u.cpu:5.2f} s of CPU time in {u.wall:5.2f} s: {u.cpu / u.wall:4.2f} cores busy")

# %% [markdown]
# On a quiet machine the first number stays near 1 and the second comes near 2. On a busy machine the second may stay
# under 1 as well: there were no cores to be had. In a random forest the trees are compiled code, so scikit-learn runs
# them on threads. Cross-validation runs any code, so it uses processes.

# %% [markdown]
# ## 6. What a large argument costs
#
# Eight tasks look at one array of 80 MB. Must each worker get a copy? joblib writes arrays above 1 MB to a file once,
# and the workers map it into their memory: a **memmap**. `max_nbytes=None` turns that off.

# %%
big = np.random.default_rng(0).random(10_000_000)


def first(array):
    return type(array).__name__, float(array[0])


Parallel(n_jobs=2)(delayed(first)(np.zeros(3)) for _ in range(2))  # start the workers
ways = {
    "memmapped": {},
    "pickled": {"max_nbytes": None},
    "threads": {"prefer": "threads"},
}


def look_eight_times(answers, settings):
    answers += Parallel(n_jobs=2, **settings)(delayed(first)(big) for _ in range(8))


for name, settings in ways.items():
    answers = []
    u = usage(partial(look_eight_times, answers, settings))
    print(f"{name:<10} {u.cpu:6.3f} s of CPU time; the task sees a {answers[0][0]}")

# %% [markdown]
# Pickling 80 MB eight times is work that nobody wanted. Communication is not free, even inside one machine. (A memmap
# is read-only: a task that writes to its argument must copy it first.)
#
# Results can be large, too. `return_as="generator"` hands them over one by one, in order, so that you need not keep
# all:

# %%
best = 0.0
for value in Parallel(n_jobs=2, return_as="generator", prefer="threads")(delayed(in_numpy)(n) for n in range(1, 5)):
    best = max(best, value)
print(best)

# %% [markdown]
# ## 7. The coarsest parallelism: searches and ensembles
#
# Tasks that need nothing from each other are the best case: no communication until the very end. The trees of a forest,
# the members of any ensemble, the candidates of a search.

# %%
from sklearn.datasets import make_classification
from sklearn.experimental import enable_halving_search_cv
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.svm import SVC

X, y = make_classification(900, 20, n_informative=8, random_state=0)
grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1]}
searches = {
    "grid": GridSearchCV(SVC(), grid, cv=3, n_jobs=2),
    "random": RandomizedSearchCV(SVC(), grid, n_iter=5, cv=3, n_jobs=2, random_state=0),
    "halving": HalvingGridSearchCV(SVC(), grid, cv=3, n_jobs=2, random_state=0, min_resources=100),
}
for name, search in show.progress(searches.items(), "Searching", each=2):
    u = usage(partial(search.fit, X, y))
    sizes = search.cv_results_.get("n_resources", [len(X)] * len(search.cv_results_["params"]))
    print(
        f"{name:<8} {3 * len(sizes):>3} fits, {2 * sum(sizes):>6,} rows fitted in all, {u.elsewhere:4.0%} of CPU time "
        f"in workers, best score {search.best_score_:.3f} with {search.best_params_}"
    )

# %% [markdown]
# All three hand a list of (candidate, fold) to joblib: nearly all CPU time is spent in the workers. Halving gives all
# candidates a few rows, keeps the best third, and gives these three times as many. That saves work, and costs
# parallelism: each round waits for the one before, and the last has only a few candidates. (`n_resources` are the
# rows of a round, `min_resources` those of the first.)
#
# Before you make something parallel, look for something cheaper. Two pairs that solve the same problem. Both kinds of
# boosting may grow 31 leaves a tree:

# %%
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

X, y = make_classification(4000, 20, n_informative=10, random_state=0)
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
    print(f"{name:<32} {u.cpu:5.2f} s of CPU time on one thread, accuracy {estimator.score(X_test, y_test):.3f}")

# %% [markdown]
# Extra trees draw their thresholds at random instead of searching for the best. Histograms look at 255 bins instead of
# all values: the more rows there are, the more that saves. Does the second of a pair take less than half the time? Then
# it beats a second core. And it runs on two cores as well.

# %% [markdown]
# ## 8. Parallel inside of parallel
#
# Five folds at a time, and in each a forest of 100 trees that wants all cores: this is the notes' own example.
# scikit-learn's manual warns of **oversubscription**, more threads than cores. Does it happen here? Beside the notes'
# program stands one whose forest keeps to one core:

# %%
from sklearn.model_selection import cross_val_score

X, y = make_classification(n_samples=10_000, n_features=20, random_state=42)
for inner in show.progress((-1, 1), "Running", each=9):
    forest = RandomForestClassifier(n_estimators=100, n_jobs=inner, random_state=42)
    cross_val_score(ExtraTreesClassifier(1), X, y, cv=40, n_jobs=-1)  # the workers start, and import scikit-learn
    u = usage(partial(cross_val_score, forest, X, y, cv=5, n_jobs=-1))
    print(f"folds -1, forest {inner:>2}: {u.cpu:5.1f} s of CPU time in {u.wall:5.1f} s", end="; ")
    print(f"{u.children / u.cpu:4.0%} in other processes")

# %% [markdown]
# Compare the CPU times: too many threads would cost time that the second program does not need. Whole folds go to other
# processes. joblib protects these. Ask one what it may do inside:


# %%
def allowed_inside():
    import sklearn.cluster
    from threadpoolctl import threadpool_info

    return {pool["user_api"]: pool["num_threads"] for pool in threadpool_info()}


print("in this process:", allowed_inside())
print("in a worker:    ", Parallel(n_jobs=joblib.cpu_count())(delayed(allowed_inside)() for _ in range(1))[0])

# %% [markdown]
# Each process gets its share of the cores for OpenMP and BLAS. (`parallel_config(inner_max_num_threads=2)` changes
# that.) Threads get no such protection. Here is a program that nests them, with `cores` at 8. `Census` counts
# threads:

# %%
import inspect
import time

from lockstep.classical.nested import oversubscribed
from lockstep.classical.usage import Census

print(inspect.getsource(oversubscribed))


def fit(n_threads):
    """Stands for a fit on n_threads threads: each has something to do for 0.05 s."""
    return Parallel(n_jobs=n_threads, prefer="threads")(delayed(time.sleep)(0.05) for _ in range(n_threads))


with Census() as census:
    oversubscribed([fit] * 8, cores=8)
print(f"{census.most} threads at once in this process")

# %% [markdown]
# 8 × 8 threads have something to do. The rest wait for them, look after joblib's pools, or belong to the notebook. For
# work that only computes, 64 threads have no more than 8 cores to run on. They take turns, they push each other's data
# out of the caches, and where one waits for all others, everyone waits for the slowest. In the lab you mend this
# program.

# %% [markdown]
# ## 9. Threads that burn time without working
#
# Sections 9 to 11 go further than the lab needs. You can leave them for later.
#
# A thread of BLAS that has nothing to do does not sleep at once. It **spins**: it asks again and again whether there
# is work, for some tens of milliseconds. If work comes, it is quicker. If not, the time is lost, for other programs
# too. `OPENBLAS_THREAD_TIMEOUT` says how long, as a power of two in cycles: 4 means 2⁴ cycles. It is read when the
# library loads, so each try needs a fresh process:

# %%
import subprocess
import sys

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
# (With another BLAS, such as Apple's or Intel's, this variable does nothing.) So CPU time elsewhere is not always
# work. The audit has its idle threads put to sleep, and it compares with a measurement with every knob at 1.
#
# This is why more BLAS threads can make a fit *slower*. Algorithms with many small products, such as TruncatedSVD or
# logistic regression, wait at each of them until all threads have come.

# %% [markdown]
# ## 10. Threads that disturb each other
#
# A `BallTree` counts how many distances it computed, and all threads add to the same number. A core cannot write one
# number alone. It has to own the 64 bytes around it, a **cache line**, and has to fetch it from the other core again
# and again. This is **sharing**. It is also a **race**: two threads may read the same number, both add to it, and one
# addition is lost. Processes have a counter each.

# %%
from sklearn.neighbors import BallTree

points = np.random.default_rng(0).random((20_000, 3))
tree = BallTree(points)
parts = np.array_split(points, 4)


def query(part):
    return tree.query(part, k=5)[1].shape


def query_all(pool):
    return pool(delayed(query)(part) for part in parts)


for name, settings in (("threads", {"prefer": "threads"}), ("processes", {})):
    for n_jobs in (1, 2):
        pool = Parallel(n_jobs=n_jobs, **settings)
        query_all(pool)
        tree.reset_n_calls()
        u = min((usage(partial(query_all, pool)) for _ in range(3)), key=lambda u: u.cpu)
        print(f"{n_jobs} {name:<10} {u.cpu:6.3f} s of CPU time, {u.wall:6.3f} s on the wall", end="; ")
        print(f"{tree.get_n_calls():,} distances counted here")

# %% [markdown]
# All four compute the same distances. If cores did not disturb each other, time and count would be the same. On a quiet
# machine two threads need more time than one, and count fewer. On a busy one they seldom run at the same moment, and
# you see little. Two processes count in counters of their own; if they spend more, the tree travels to them with every
# task. In unit 02, counters that only lie side by side disturb each other, too: *false* sharing.

# %% [markdown]
# ## 11. Beyond one machine
#
# joblib's tasks can also go to a cluster. **Dask** has a scheduler and workers, on one machine or on a hundred. The
# estimator does not change; only where `parallel_config` sends its tasks. Starting it here takes some seconds.

# %%
import logging

from joblib import parallel_config

try:
    from dask.distributed import Client, LocalCluster
except ImportError:
    print('Dask is not installed here. To run this cell: pip install "lockstep[dask]"')
else:
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, cv=3)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR) as cluster,
        Client(cluster) as client,
    ):
        with parallel_config("dask"):
            search.fit(X[:500], y[:500])
        print("scheduler:", client.scheduler.address.partition(":")[0], "with", len(client.nthreads()), "workers")
    print("best:", search.best_params_)

# %% [markdown]
# Those were two real worker processes and a scheduler, talking over TCP. On a cluster, only one line changes:
# `Client("tcp://address-of-the-scheduler:8786")`. And a message costs more: an argument of 80 MB cannot be memmapped
# across a network.

# %% [markdown]
# ## 12. What professionals do
#
# - They look for the coarsest parallelism first: searches, folds, members of ensembles. No communication.
# - They have *one* level use the cores, and set the others to 1. Under a scheduler such as Slurm they set
#   `OMP_NUM_THREADS` to the cores of their job.
# - They measure before they believe a table, this one included: the next release may differ.
#
# Where tasks need each other's results, joblib ends. A step of k-means needs the sum over all workers, and everyone
# needs the result: you write it in the lab, with one process that adds everything up. In unit 04 you do it without
# such a centre. Before that, unit 02 looks inside one core.
#
# Go on with [the lab of this unit](../../labs/01_scikit_learn/lab.ipynb). After it comes
# [unit 02, Inside a CPU](../02_cpu/lesson.ipynb).
