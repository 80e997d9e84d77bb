# %% [markdown] lab="readonly title"
# # Lab 01: scikit-learn and joblib
#
# You find out by measuring what runs in parallel inside a fit. Then you make three algorithms parallel with joblib: a
# forest, a step of k-means, a grid search. Finally you mend a program that starts far too many threads.
#
# [The lesson of this unit](../../course/01_scikit_learn/lesson.ipynb) explains what you need.

# %% [markdown] lab="readonly how"
# ## How to work
#
# - Write each function in its cell, in place of `raise NotImplementedError()`. The names of the functions stay.
# - Run the cell below it. Your function runs in a process of its own on this machine. The check looks at the results
#   *and* at what you handed to joblib: how many calls of `Parallel`, with how many workers, tasks and bytes.
#   It never looks at seconds.
# - Use `Parallel` and `delayed` of joblib, and hand `n_jobs` on. `prefer="threads"` is allowed everywhere.
# - Without `prefer="threads"` the workers are processes: each task gets a *copy* of its arguments, and only what it
#   returns comes back.
# - `check` shows nothing of what you print. Call your function in a cell of your own to look inside.

# %% lab="readonly imports"
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.tree import DecisionTreeClassifier

from lockstep import check

# %% [markdown] lab="readonly about-classify_parallelism"
# ## 1. What runs in parallel? (25 minutes)
#
# You get `measure`, a function that measures a fit which you cannot see. Its three knobs are 1 unless you say
# otherwise:
#
# - `measure(openmp=1, blas=1, n_jobs=1)` measures it once, and returns who spent the CPU time:
#   - `.main`: seconds of CPU time of the thread that called the fit,
#   - `.helpers`: those of all other threads of this process,
#   - `.children`: those of other processes,
#   - `.elsewhere`: the share (helpers + children) / (main + helpers + children), from 0 to 1,
#   - `.wall`: seconds on the clock on the wall; `.threads`: the most threads that were alive at once.
#
# Return one of `"serial"`, `"openmp"`, `"blas"`, `"threads"`, `"processes"`. The last two belong to `n_jobs`:
# tell them apart by `.helpers` and `.children`. A knob counts if, with that knob at 2 and the others at 1, the share
# `.elsewhere` is at least 0.2 larger than with every knob at 1. At most one knob counts in each fit.
#
# Take care: every hidden fit accepts `n_jobs`, and some ignore it. In some of them a second thread burns CPU time in
# vain, whatever the knobs say: there `.elsewhere` is large even with every knob at 1. Some take 30 seconds of CPU time,
# some a hundredth of one; some live in pools of idle threads; some take longer with two workers than with one.
#
# So that no busy machine misleads you, the seconds of the hidden fits are written down beforehand: most are only told
# to you, some are really spent, and measured.


# %% lab="answer classify_parallelism"
def classify_parallelism(measure):
    """ "serial", "openmp", "blas", "threads" or "processes"."""
    ### BEGIN SOLUTION
    alone = measure().elsewhere
    if measure(openmp=2).elsewhere - alone >= 0.2:
        return "openmp"
    if measure(blas=2).elsewhere - alone >= 0.2:
        return "blas"
    by_jobs = measure(n_jobs=2)
    if by_jobs.elsewhere - alone < 0.2:
        return "serial"
    return "processes" if by_jobs.children > by_jobs.helpers else "threads"
    ### END SOLUTION


# %% [markdown] lab="readonly try-classify_parallelism"
# Try it first on a fit that you know. `measuring` makes a `measure` of any function of `n_jobs`:

# %%
from sklearn.cluster import KMeans

from lockstep.classical.knobs import measuring

X = np.random.default_rng(0).random((20_000, 10))
measure = measuring(lambda n_jobs: KMeans(40, n_init=1, max_iter=10).fit(X))
print(measure(openmp=2))

# %% lab="tests classify_parallelism"
check("scikit_learn.classify_parallelism", classify_parallelism)

# %% [markdown] lab="readonly about-parallel_forest"
# ## 2. A parallel forest (25 minutes)
#
# A random forest is a list of decision trees that know nothing of each other. Return the list of `n_trees` fitted
# `DecisionTreeClassifier`s, in order. `X` is an array of shape (n, d), `y` of shape (n,).
#
# Tree i is made like this, and in no other way:
#
# 1. `random = np.random.default_rng([seed, i])`
# 2. `rows = random.integers(n, size=n)`: n rows, drawn with replacement
# 3. `state = int(random.integers(2**31))`
# 4. `DecisionTreeClassifier(max_features="sqrt", random_state=state)`, fitted to those rows of `X` and `y`
#
# The check compares your trees with the serial forest, node by node, for several `n_trees` and `n_jobs`, of which
# neither need divide the other. And it counts: one call of `Parallel` with `n_jobs` workers, and a task for each tree.


# %% lab="answer parallel_forest"
def parallel_forest(X, y, n_trees, n_jobs, seed):
    """A list of n_trees fitted trees, the same for every n_jobs."""

    ### BEGIN SOLUTION
    def grow(i):
        random = np.random.default_rng([seed, i])
        rows = random.integers(len(X), size=len(X))
        state = int(random.integers(2**31))
        return DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])

    return Parallel(n_jobs=n_jobs)(delayed(grow)(i) for i in range(n_trees))
    ### END SOLUTION


# %% lab="tests parallel_forest"
check("scikit_learn.parallel_forest", parallel_forest)

# %% [markdown] lab="readonly about-parallel_kmeans_step"
# ## 3. A parallel step of k-means (30 minutes)
#
# One step of k-means: every row belongs to its nearest centre; each centre moves to the mean of its rows. A centre
# without rows stays where it is. Return the moved centres, an array of floats of the shape of `centres`.
#
# `X` has n rows and d columns, `centres` k rows and d columns. Share the rows among `n_jobs` workers:
#
# - Map: each worker gets its own part of the rows, and no others. `np.array_split(X, n_jobs)` cuts any number of rows.
# - What comes back from a worker is small: k·(d + 1) numbers, however many rows it has.
# - Reduce: add what came back, and divide.
#
# The check compares with the serial step. It counts the tasks (at least `n_jobs`, in one call of `Parallel`), the bytes
# that go to the workers, and the bytes that come back from each. Threads copy nothing: with `prefer="threads"` the
# check counts the bytes that processes would be sent.


# %% lab="answer parallel_kmeans_step"
def parallel_kmeans_step(X, centres, n_jobs):
    """The means of the rows nearest to each centre; a centre without rows stays."""

    ### BEGIN SOLUTION
    def partial(part):
        squared = ((part[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        chosen = np.eye(len(centres))[squared.argmin(axis=1)]
        return chosen.T @ part, chosen.sum(axis=0)

    found = Parallel(n_jobs=n_jobs)(delayed(partial)(part) for part in np.array_split(X, n_jobs))
    sums = sum(s for s, _ in found)
    counts = sum(c for _, c in found)
    moved = centres.astype(float)
    moved[counts > 0] = sums[counts > 0] / counts[counts > 0, None]
    return moved
    ### END SOLUTION


# %% lab="tests parallel_kmeans_step"
check("scikit_learn.parallel_kmeans_step", parallel_kmeans_step)

# %% [markdown] lab="readonly about-parallel_grid_search"
# ## 4. A parallel grid search (25 minutes)
#
# Score every candidate of `ParameterGrid(grid)` on every fold of `cv.split(X, y)`. Return a pair:
#
# - the parameters (a dict) of the candidate with the best mean score; the first one, if several are equally good;
# - the list of the mean scores of all candidates, in the order of `ParameterGrid(grid)`.
#
# The score of a candidate on a fold `(train, test)`: a fresh copy of the estimator, `clone(estimator)`, with the
# candidate's parameters, is fitted to the rows `train`; its `.score` on the rows `test` counts. The estimator that
# you were given stays as it is. Call `cv.split` once: it may draw other folds each time, and of unequal sizes.
#
# Write the search yourself, without `GridSearchCV` and without `cross_val_score`: these call `Parallel` themselves.
#
# The check compares with the serial search, and counts: one call of `Parallel` with `n_jobs` workers, and a task for
# each candidate *and* fold.


# %% lab="answer parallel_grid_search"
def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):
    """(best parameters, mean score of every candidate)."""

    ### BEGIN SOLUTION
    def score(parameters, train, test):
        fitted = clone(estimator).set_params(**parameters).fit(X[train], y[train])
        return fitted.score(X[test], y[test])

    candidates = list(ParameterGrid(grid))
    folds = list(cv.split(X, y))
    scores = Parallel(n_jobs=n_jobs)(
        delayed(score)(parameters, train, test) for parameters in candidates for train, test in folds
    )
    means = np.reshape(scores, (len(candidates), len(folds))).mean(axis=1)
    return candidates[int(means.argmax())], means.tolist()
    ### END SOLUTION


# %% lab="tests parallel_grid_search"
check("scikit_learn.parallel_grid_search", parallel_grid_search)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of each exercise are folded: open them by the button below
# its text. The grade stands on the exercises above; the points of these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-mend_oversubscription"
# ## 5. Mend: too many threads (15 minutes)
#
# `fits` is a list of functions. `fit(n_threads)` computes with that many threads, and returns a result. The program
# below runs `cores` fits at once, and each believes that the whole machine is its own: up to cores² threads.
#
# Mend it. Return the results in the order of `fits`; call each fit once. There may be more fits than cores, or fewer.
#
# - Never more than `cores` threads of fits may be alive at once.
# - But do not leave cores idle. Run o = min(fits, cores) fits at once: fits need nothing of each other, and the threads
#   inside a fit wait for one another. Each fit may have cores // o threads. At some moment at least that many threads
#   in all, o · (cores // o), must be alive.
#
# Only the threads inside the fits count, not those of `Parallel`. The check counts them, and the fits at once, with 1
# to 9 fits on 4 or 8 cores. `cores` is a number that you are given; it need not be that of this machine. The fits are
# objects of this process, so use threads.


# %% lab="given mend_oversubscription"
def mend_oversubscription(fits, cores):
    """The result of each fit, with never more than `cores` threads alive at once."""
    return Parallel(n_jobs=cores, prefer="threads")(delayed(fit)(cores) for fit in fits)


# %% lab="answer mend_oversubscription"
### BEGIN SOLUTION
def mend_oversubscription(fits, cores):
    """The result of each fit, with never more than `cores` threads alive at once."""
    outer = min(cores, len(fits))
    inner = cores // outer
    return Parallel(n_jobs=outer, prefer="threads")(delayed(fit)(inner) for fit in fits)


### END SOLUTION

# %% lab="tests mend_oversubscription"
check("scikit_learn.mend_oversubscription", mend_oversubscription)

# %% [markdown] lab="readonly end"
# ## Compare
#
# The library's answers are `pkg/lockstep/classical`, one page each. `parallel_kmeans_step` adds the workers' sums and
# gives everyone the result: that is an **all-reduce**. In unit 04 you write it for ranks that share nothing.
#
# Next comes [unit 02, Inside a CPU](../../course/02_cpu/lesson.ipynb).
