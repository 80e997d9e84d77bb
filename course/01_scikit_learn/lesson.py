# %% [markdown]
# # 01 scikit-learn and joblib
#
# **Which of your estimators use more than one core?**
#
# ![](opening.svg)
#
# You have a machine with several cores, and you call `fit`. In the course's formula
# $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$, $\Delta$ is an update computed from data, and $F$ brings it into the
# model $A$. Here are the easy cases: whole programs side by side, many independent $\Delta$, and one $\Delta$ whose data
# are split.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 8 |
# | Short path | {minutes} | sections 1, 2 and 5, the wrap-up; then `parallel_forest` in the lab |
# | [Lab](../../labs/01_scikit_learn/lab.ipynb) | 105 | four exercises, and more for those who want them |
#
# You need nothing from unit 00.

# %%
import os
from functools import partial

import joblib
import numpy as np
from IPython.display import display
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.experimental import enable_halving_search_cv
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.classical import assignment, nested
from lockstep.classical.audit import audit, table
from lockstep.classical.knobs import measuring
from lockstep.classical.usage import usage
from lockstep.experiments.scikit_learn import lecture_notes, your_line

# %% [markdown]
# ## 1. Three knobs · {minutes} minutes · short path
#
# A fit can run in parallel in three ways. Each has a knob:
#
# | way | what runs | knob |
# |---|---|---|
# | **OpenMP** | loops of scikit-learn's compiled code, on threads | `OMP_NUM_THREADS` |
# | **BLAS** (and LAPACK on top) | matrix products and decompositions, on threads | `OPENBLAS_NUM_THREADS`, or that of another BLAS |
# | **joblib** | Python functions, on processes or threads | `n_jobs` |
#
# The first two begin at the number of cores. `n_jobs` begins at 1; −1 means all cores. This is loaded here. (NumPy and
# SciPy each bring a BLAS, so it may stand there twice.)

# %%
print("cores:", joblib.cpu_count())
for pool in threadpool_info():
    kind, threads = pool["user_api"], pool["num_threads"]
    print(f"{kind:>7}: {pool['internal_api']}, {threads} threads")

# %% [markdown]
# Did a fit use several cores? The clock on the wall can't tell: others may use them, too. The operating system counts
# **CPU time**: for each thread, the seconds in which it ran. So ask who spent it: the thread that called `fit`, its
# helpers (other threads), or other processes?
#
# Below, one knob at a time is at 2. Then you know which one did it. Which one gives k-means a helper?

# %%
X = np.random.default_rng(0).random((20_000, 20))
kmeans = KMeans(40, init="random", n_init=1, max_iter=10, tol=0)
measure = measuring(lambda n_jobs: kmeans.fit(X))
measure(openmp=2, blas=2)  # libraries load and threads start: not counted
for knobs in ({}, {"openmp": 2}, {"blas": 2}):
    u = measure(**knobs)
    seconds = f"main {u.main:.3f} s   helpers {u.helpers:.3f} s"
    print(f"{knobs or 'all at 1'!s:<14} {seconds}   elsewhere {u.elsewhere:.0%}")

# %% [markdown]
# OpenMP does: the helper spends about half of the CPU time. BLAS changes nothing. In its loop, k-means holds BLAS at one
# thread, because two kinds of threads would disturb each other.

# %% lesson="quiz burnt"
quiz(
    "burnt",
    "With every knob at 1, a fit spends 1.0 s on its main thread and 1.0 s on a helper. With n_jobs=2 it spends the same. "
    "What does n_jobs do?",
    choices=["nothing", "it halves the work", "it starts the helper"],
    answer="nothing",
    because="The share elsewhere is 50 % in both. A helper that is busy without n_jobs was not started by it.",
    wrong={
        "it halves the work": "Half of the CPU time is the helper's. But was that different with n_jobs at 1?",
        "it starts the helper": "The helper is there with every knob at 1.",
    },
)

# %% [markdown]
# ## 2. The audit · {minutes} minutes · short path
#
# A course's slide has a table of what runs in parallel. Here it is, whole, in its words:
#
# | algorithm | parallel support? | notes |
# |:--|:--|:--|
# | RandomForestClassifier/Regressor | ✓ Full | Uses multiple trees |
# | ExtraTreesClassifier/Regressor | ✓ Full | Faster than Random Forest |
# | HistGradientBoostingClassifier/Regressor | ✓ Full | More efficient than GBM |
# | KNeighborsClassifier/Regressor | ✓ Full | Parallelizes distance computations |
# | GradientBoostingClassifier/Regressor | ✗ Limited | Only data parallelism |
# | LinearSVC / LinearSVR | ✗ Limited | Multi-threaded, no n_jobs |
# | SVC / SVR | ✗ No | No parallelism |
# | DBSCAN / AgglomerativeClustering | ✗ No | Single-threaded |
# | KMeans | ✓ Full | Uses OpenMP for multi-threading |
# | PCA | ✗ No | No parallelism |
# | TruncatedSVD | ✓ Full | n_jobs for parallel SVD |
# | GridSearchCV / RandomizedSearchCV | ✓ Full | Parallel hyperparameter tuning |
# | cross_val_score | ✓ Full | Parallel cross-validation |
#
# A line holds if the parallel work that it claims was really done outside the calling thread. “Full” and “limited” say
# that several cores work, “no” says that one does. The first estimator stands for its line, with brute force where there is a choice.

# %% lesson="predict scikit-learn-claims"
predict(
    "scikit-learn-claims",
    "How many of the 13 lines does a measurement confirm?",
    unit="lines",
)

# %% [markdown] lesson="after scikit-learn-claims"
# `lockstep audit` measures each estimator in a fresh process, a knob at a time. Here are four lines, shown as they are
# measured; on a quiet machine in some three seconds each. A bar is the share of the CPU time that was spent elsewhere with
# that knob at 2. For all 13 write `audit([line.row for line in lecture_notes.NOTES])`.

# %% lesson="after scikit-learn-claims"
FOUR = ["RandomForestClassifier", "LinearSVC", "DBSCAN brute", "TruncatedSVD"]
verdicts = []
for verdict in audit(FOUR, rounds=1):
    verdicts.append(verdict)
    print(f"{verdict.name:<24}{table.kind(verdict)}")
display(reconcile("scikit-learn-claims", measured=lecture_notes.borne_out(verdicts)))
show.audit(verdicts)

# %% [markdown] lesson="reason scikit-learn-claims"
# **Our reason.** On our machine 8 lines held, and 5 did not. `n_jobs` is one of three ways, and the only one with a
# parameter: so a table of parameters misses the other two. The count takes your four measurements, and our record for
# the other nine. On a busy machine, or with another BLAS, a line may differ.

# %% lesson="after scikit-learn-claims"
lecture_notes.beside(verdicts)

# %% [markdown] lesson="after scikit-learn-claims"
# **Common claims, and what we count.** Where no reason stands, the two agree. Where one stands, it says who does the work. Try your own
# estimator in a terminal: `lockstep audit sklearn.svm:SVC`.

# %% lesson="quiz brute"
quiz(
    "brute",
    "KNeighborsClassifier by brute force uses OpenMP and ignores n_jobs. A machine has 8 cores, and you set nothing. How "
    "many threads compute its distances?",
    unit="threads",
    answer=8,
    because="OpenMP begins at the number of cores. n_jobs is 1 then, and nobody asks for it.",
    wrong={
        1: "That is n_jobs, which brute force ignores. Where does OpenMP's knob begin?",
        2: "That is what we turned the knob to, to measure. Where does it begin?",
        64: "8 threads for each of 8? n_jobs starts none here.",
    },
)

# %% [markdown]
# ## 3. Processes copy, threads share · {minutes} minutes
#
# joblib's `Parallel` hands function calls to workers. By default these are processes. Arguments travel as bytes, and so
# do results. With `prefer="threads"` the workers are threads of this process. Who gets what is appended here?

# %%
seen = []


def remember(i):
    seen.append(i)
    return f"{i} in process {os.getpid()}"


print(Parallel(n_jobs=2)(delayed(remember)(i) for i in range(4)))
print("this process:", os.getpid(), "and here, seen is", seen)
Parallel(n_jobs=2, prefer="threads")(delayed(remember)(i) for i in range(4))
print("after threads, seen is", sorted(seen))

# %% [markdown]
# The processes appended to *their* lists. Only what a task returns comes back.
#
# Threads need no copies. Eight tasks and 2 threads: how many cores do they keep busy, if the work is Python code?

# %% lesson="predict gil"
predict(
    "gil",
    "Two threads compute sums in a Python loop, on a machine with two free cores. How many cores are busy, on average?",
    unit="cores",
)


# %% lesson="after gil"
def in_python(n):
    return sum(i * i for i in range(n))


def in_numpy(n):
    return float(np.sin(np.linspace(0, 1, 4 * n)).sum())


def busy(work):
    calls = [delayed(work)(300_000) for _ in range(8)]
    u = usage(lambda: Parallel(n_jobs=2, prefer="threads")(calls))
    return u.cpu / u.wall


print(f"compiled code: {busy(in_numpy):.2f} cores busy")
reconcile("gil", measured=busy(in_python))

# %% [markdown] lesson="reason gil"
# **Our reason.** The usual build of Python runs Python code in one thread at a time: a thread must hold a lock, the
# **GIL**. So at most 1 core is busy. (Free-threaded builds have none: PEP 703.) Compiled loops let go of it, so they come
# near 2 if two cores are free. On a busy machine both numbers are lower.

# %% [markdown]
# So scikit-learn grows a forest's trees, which are compiled code, on threads; a cross-validation runs any code, on
# processes. And a large argument? joblib writes an array above 1 MB to a file once, and workers map it into their memory:
# a **memmap**. `max_nbytes=None` turns that off.

# %%
big = np.random.default_rng(0).random(5_000_000)  # 40 MB


def first(array):
    return type(array).__name__, float(array[0])


for settings in ({}, {"max_nbytes": None}, {"prefer": "threads"}):
    calls = [delayed(first)(big) for _ in range(8)]
    Parallel(n_jobs=2, **settings)(delayed(first)(big[:3]) for _ in range(2))
    u = usage(lambda calls=calls, s=settings: Parallel(n_jobs=2, **s)(calls))
    print(f"{settings!s:<24} {u.cpu:6.3f} s of CPU time for 8 tasks")

# %% lesson="quiz appended"
quiz(
    "appended",
    "x = [0], then Parallel(n_jobs=2)(delayed(x.append)(i) for i in range(4)), by default. How long is x afterwards?",
    unit="elements",
    answer=1,
    because="Each task appended to a copy of x in another process. append returns None, so nothing comes back.",
    wrong={
        5: "That is what threads do. By default the workers are processes.",
        4: "x had an element before. And whose x is appended to?",
        3: "Two tasks on each worker: but do the workers' lists come back?",
    },
)

# %% [markdown]
# ## 4. Split the data · {minutes} minutes
#
# One step of k-means is one $\Delta$: each centre moves to the mean of its rows. Cut the rows among workers. For each
# centre a worker returns a **sum** of its rows and their **count**. That is small, however many rows there are.
#
# **Your turn.** Bring together what the workers return for one centre.


# %% lesson="turn mean_of_parts"
def mean_of_parts(sums, counts):
    """Worker i has counts[i] of the centre's rows, and their sum is sums[i]. What is
    the mean of all the rows? A worker may have none; at least one has some."""
    ### BEGIN SOLUTION
    return sum(sums) / sum(counts)
    ### END SOLUTION


# %% lesson="behind mean_of_parts"
cases = [([0.0, 12.0], [1, 3]), ([5.0], [2]), ([6.0, 0.0, 3.0], [2, 0, 1]), ([8.0, 8.0], [4, 4]), ([1.0, 2.0], [1, 1])]
cases += [([0.0, 0.0, 7.0], [0, 0, 7]), ([-4.0, 4.0, 9.0], [1, 2, 3]), ([2.0] * 64, [1] * 63 + [65])]
wrong = {
    lambda sums, counts: (
        sum(s / max(1, c) for s, c in zip(sums, counts, strict=True)) / len(sums)
    ): "That is the mean of means: a worker with one row counts as much as one with a thousand.",
    lambda sums, counts: sum(sums) / len(sums): "You divide by the number of workers. How many rows are there?",
    lambda sums, counts: sum(sums): "That is the sum of all rows. What turns it into their mean?",
    lambda sums, counts: sums[0] / max(1, counts[0]): "That is what worker 0 knows. And the others?",
}
well = "Right: sums can be added, and so can counts. Means can't."

# %% lesson="after mean_of_parts"
your_line.kmeans_table(mean_of_parts)

# %% [markdown] lesson="after mean_of_parts"
# In the lab you write the whole step. One process adds up, and everybody needs the result for the next step: from unit 04
# on that is an **all-reduce**.

# %% [markdown]
# ## 5. Whole programs side by side · {minutes} minutes · short path
#
# Tasks that need nothing of each other are the best case: the trees of a forest, the members of an ensemble, the
# candidates of a search. Nobody communicates until the end. Look at the share in workers, and at the rows:

# %%
X, y = make_classification(500, 20, n_informative=8, random_state=0)
grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1]}
same = {"cv": 3, "n_jobs": 2}
searches = {
    "grid": GridSearchCV(SVC(), grid, **same),
    "random": RandomizedSearchCV(SVC(), grid, n_iter=5, random_state=0, **same),
    "halving": HalvingGridSearchCV(SVC(), grid, min_resources=55, **same),
}
for name, search in searches.items():
    u = usage(partial(search.fit, X, y))
    found = search.cv_results_
    sizes = found.get("n_resources", [len(X)] * len(found["params"]))
    told = f"{3 * len(sizes)} fits, {2 * sum(sizes):,} rows"
    found = f"{u.elsewhere:4.0%} elsewhere, best {search.best_score_:.3f}"
    print(f"{name:<8} {told:<20} {found}")

# %% [markdown]
# Each hands a list of (candidate, fold) to joblib. At the end the best candidate is fitted once more, on all rows
# (`refit=True`). **Halving** gives all candidates a few rows, keeps the best third, and
# gives these three times as many. That saves work, and costs parallelism: each round waits for the one before, and the
# last has only a few candidates.

# %% lesson="quiz refit"
quiz(
    "refit",
    "GridSearchCV, 12 candidates, 5 folds, refit=True as usual. How many fits is that in all?",
    unit="fits",
    answer=61,
    because="12·5 = 60, and the best candidate once more, on all rows. That last fit is not a task beside others.",
    wrong={
        60: "These are the tasks. What does refit add at the end?",
        12: "Each candidate is fitted once for every fold.",
        72: "Only the best candidate is fitted again.",
        17: "Each candidate with each fold: multiply.",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.

# %% [markdown]
# ## 6. Who gets the next row? · {minutes} minutes
#
# A picture of the Mandelbrot set has 64 rows. A point in the set takes 200 steps of a loop, one far outside few. The set
# lies in the middle. Share the rows among 8 workers:
#
# - **Static** assignment is decided before: worker 0 gets the first 8 rows, worker 1 the next 8, …
# - **Dynamic** assignment: whoever is done gets the next row.
#
# All wait for the busiest. **Load balance** means: none has much more work than others. Below: six rows, two
# workers.

# %% lesson="fold"
few = [4, 1, 1, 1, 1, 1]
on_two = {"static": assignment.by_blocks(6, 2), "dynamic": assignment.dynamic(few, 2, assignment.first_free)}
show.assignment(few, on_two)

# %% lesson="predict blocks"
predict(
    "blocks",
    "64 rows, 8 workers. Static assignment by blocks takes how many times as long as dynamic assignment?",
    unit="times",
    answer=2.24,
)

# %% lesson="after blocks"
costs = assignment.mandelbrot_rows()
ways = {
    "static, by blocks": assignment.by_blocks(64, 8),
    "dynamic": assignment.dynamic(costs, 8, assignment.first_free),
}
static, dynamic = (assignment.longest(costs, way) for way in ways.values())
display(reconcile("blocks", simulated=static / dynamic))
show.assignment(costs, ways)

# %% [markdown] lesson="reason blocks"
# **Our reason.** Equal numbers of rows are not equal work. The busiest block takes 2.3 times the mean; dynamic assignment
# ends 1 % above the mean. It needs no guess about the rows. It costs a message for each row, and one row must not be a
# large part of the work. These are steps of the loop, not seconds: they are the same on every machine.

# %% [markdown]
# **Your turn.** Write the rule of dynamic assignment. Below, your line hands out all rows.


# %% lesson="turn next_worker"
def next_worker(done):
    """done[w] is when worker w will be done with all that it has. Who gets the next
    row? Of several, the one with the lowest number."""
    ### BEGIN SOLUTION
    return done.index(min(done))
    ### END SOLUTION


# %% lesson="behind next_worker"
cases = [([0.0],), ([0.0, 0.0, 0.0],), ([3.0, 1.0, 2.0],), ([5.0, 4.0, 4.0],), ([1.0, 0.0],), ([0.0, 2.0, 1.0],)]
cases += [([7.0, 9.0, 8.0, 6.0],), ([2.0] * 63 + [1.0],), ([4.0, 9.0, 3.0, 3.0, 8.0],)]
wrong = {
    lambda done: done.index(max(done)): "That worker is done last. Who is done first?",
    lambda done: min(done): "That is when somebody is done. Who is it?",
    lambda done: 0: "Then worker 0 computes everything, and the others idle.",
    lambda done: (
        len(done) - 1 - done[::-1].index(min(done))
    ): "Two are done at the same time, and you take the last of them.",
}
well = "Right. Nobody idles while a row is left."

# %% lesson="after next_worker"
rows = assignment.mandelbrot_rows()
by_turns, mine = assignment.by_turns(64, 8), assignment.dynamic(rows, 8, next_worker)
show.assignment(rows, {"static, by turns": by_turns, "dynamic, by your line": mine})

# %% [markdown] lesson="after next_worker"
# Dealt like cards, these rows are shared well, too: neighbours are alike. If every eighth row were heavy, one worker would
# get them all. joblib assigns dynamically; for processes it joins quick tasks into batches.

# %% lesson="quiz last"
quiz(
    "last",
    "10 workers, dynamic: 100 tasks of 1 s each, and then a last one of 50 s. After how many seconds is all done?",
    unit="s",
    answer=60,
    because="10 s for the 100 tasks, and then one worker has 50 s of work. Begun first, the long task would end after 50 s.",
    wrong={
        15: "150 s of work on 10 workers. But can ten work at the long task?",
        50: "That is when the long task comes first. Here it begins last.",
        150: "That is one worker.",
        51: "When does the last task begin? 100 tasks come before it.",
    },
)

# %% [markdown]
# ## 7. Parallel inside parallel · {minutes} minutes
#
# A common example: `cross_val_score(…, n_jobs=-1)`, and in each fold a forest of 100 trees with `n_jobs=-1`.
# scikit-learn's manual warns of **oversubscription**: more threads than cores. You run that program below, with
# fewer rows and 8 folds. First an exaggeration: 8 folds at once, on threads, and in each a forest on 8 threads.

# %% lesson="predict nested-eight"
predict(
    "nested-eight",
    "More than 64 threads on your cores. Together they spend how many times the CPU time of one fold after the other, "
    "on one thread?",
    unit="times",
)

# %% lesson="after nested-eight"
known = {way: nested.nested_usage(way) for way in (nested.ONE, nested.EIGHT)}
spent = [u.cpu for u in known.values()]
display(reconcile("nested-eight", measured=spent[1] / spent[0]))
nested.nested_table(known)

# %% [markdown] lesson="reason nested-eight"
# **Our reason.** We saw 1.0 to 1.2 times. Trees are compiled code that waits for nobody: threads take turns on the cores,
# and a turn costs little. Nothing is gained either: more cores than there are can't be busy. It hurts where threads wait
# for *each other*, as in BLAS: while one has no core, the others may spin. (The threads of the first row are the
# notebook's own.)

# %% [markdown] lesson="after nested-eight"
# The row −1, −1 is that program. Its folds go to other processes, which joblib protects: each gets its share of the
# cores for OpenMP and BLAS. Ask one what it may do inside. (joblib's own threads are not limited there.)


# %% lesson="after nested-eight"
def allowed_inside():
    import sklearn.cluster
    from threadpoolctl import threadpool_info

    return {pool["user_api"]: pool["num_threads"] for pool in threadpool_info()}


all_cores = joblib.cpu_count()
inside = Parallel(n_jobs=all_cores)(delayed(allowed_inside)() for _ in range(1))
print("in this process:", allowed_inside())
print("in a worker:    ", inside[0])

# %% [markdown]
# Threads get no such protection. So give each fit its share.
#
# **Your turn.** As many fits at once as there are cores; the cores are shared evenly among those that run.


# %% lesson="turn threads_each"
def threads_each(fits, cores):
    """There are `fits` fits, and at most `cores` of them run at once. How many threads
    may each use? A whole number, and never more than `cores` in all."""
    ### BEGIN SOLUTION
    return cores // min(fits, cores)
    ### END SOLUTION


# %% lesson="behind threads_each"
cases = [(1, 1), (1, 8), (2, 8), (3, 8), (5, 8), (8, 8), (9, 8), (100, 4), (3, 64), (1000, 64)]
wrong = {
    lambda fits, cores: cores // fits: "With more fits than cores that is 0. How many fits run at once then?",
    lambda fits, cores: cores: "Then each fit believes that the machine is its own.",
    lambda fits, cores: cores / min(fits, cores): "A number of threads is whole: 8 cores for 3 fits is 2 each.",
    lambda fits, cores: -(-cores // min(fits, cores)): "Rounded up, 3 fits on 8 cores have 9 threads.",
    lambda fits, cores: 1: "That is safe. But 2 fits on 8 cores would leave 6 cores idle.",
}
well = "Right. In the lab, it mends a program that starts cores² threads."

# %% [markdown]
# ## 8. Beyond one machine · {minutes} minutes
#
# joblib's tasks can go to a cluster: `parallel_config("dask")` sends them to a scheduler of **Dask**, and the estimator
# does not change. Beside Dask, people often name **Spark**. What differs, for a fit of scikit-learn:
#
# | | Dask | Spark |
# |---|---|---|
# | what it is | a scheduler and workers, written in Python | an engine on the Java virtual machine; Python workers beside it |
# | what is spread | any graph of Python tasks, arrays, data frames | tables: partitions of rows, SQL and maps over them |
# | who gets a task | dynamic: whoever is free | dynamic, too: a free slot gets a partition; stages wait for each other |
# | scikit-learn | unchanged, by joblib's backend | by the package `joblibspark`; or Spark's own MLlib instead |
# | strong where | your Python program grows | the tables are there already, and large |
#
# No cell here runs Spark: it is not among the course's packages. [More](more.ipynb) runs Dask, on two processes.

# %% [markdown]
# ## Wrap-up
#
# You can now:
#
# - measure which of three knobs a fit listens to;
# - say what processes copy, and what threads share;
# - add up sums and counts instead of means;
# - choose static or dynamic assignment;
# - give nested fits their share of the cores.
#
# Professionals let *one* level use the cores, and look for the coarsest parallelism first.
#
# **Go on**: [the lab](../../labs/01_scikit_learn/lab.ipynb). Your lines are steps of it. [More](more.ipynb): cheaper
# estimators, threads that spin or disturb each other, Dask. **Or stop here**, and begin with the lab next time.
