# %% [markdown] lab="readonly title"
# # Lab 01: scikit-learn and joblib
#
# You find out by measuring what runs in parallel inside a fit. Then you make three algorithms parallel with joblib: a
# forest, a step of k-means, a grid search.
#
# [The lesson](../../course/01_scikit_learn/lesson.ipynb) explains what you need. Each exercise names its section.

# %% [markdown] lab="readonly how"
# ## How to work
#
# - Write each function in its cell, in place of `raise NotImplementedError()`. The names of the functions stay.
# - Run the cell below it. Try as often as you like. Each exercise has three folded hints.
# - Your function runs in a process of its own on this machine. The check looks at the results
#   *and* at what you handed to joblib: how many calls of `Parallel`, with how many workers, tasks and bytes.
#   It never looks at seconds.
# - In exercises 2 to 4, use `Parallel` and `delayed` of joblib, and hand `n_jobs` on. `prefer="threads"` is allowed.
# - Without `prefer="threads"` the workers are processes: each task gets a *copy* of its arguments, and only what it
#   returns comes back.
# - What your function is given stays as it is: arrays, grid and estimator are the caller's.
# - `check` does not show what you print. Call your function in a cell of your own to look inside.

# %% lab="readonly imports"
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.tree import DecisionTreeClassifier

from lockstep import check

# %% [markdown] lab="readonly about-classify_parallelism"
# ## 1. What runs in parallel? ({minutes} minutes, {points} points)
#
# Which knob does a fit listen to? You find out by measuring. (Sections 1 and 2 of the lesson.)
#
# - **You get** `measure(openmp=1, blas=1, n_jobs=1)`, which measures a fit that you cannot see, with these knobs. It
#   returns who spent the CPU time:
#   - `.main`: seconds of the thread that called the fit,
#   - `.helpers`: those of all other threads of this process,
#   - `.children`: those of other processes,
#   - `.elsewhere`: the share (helpers + children) / (main + helpers + children), from 0 to 1,
#   - `.wall`: seconds on the clock on the wall; `.threads`: the most threads that were alive at once.
# - **You return** one of `"serial"`, `"openmp"`, `"blas"`, `"threads"`, `"processes"`. The last two belong to `n_jobs`: tell
#   them apart by which grows more from every knob at 1 to `n_jobs=2`, `.helpers` or `.children`.
# - **You may use** as many measurements as you like.
# - **It may cost** anything: only the word is judged.
#
# A knob counts if, with that knob at 2 and the others at 1, `.elsewhere` is at least 0.25 larger than with every knob at 1:
# from exactly 0.25 on. At most one knob counts in each fit; in some a second one moves less than that. Every hidden fit
# accepts `n_jobs`, and some ignore it. In some a second thread burns CPU time in vain, as much whatever the knobs say. A
# knob moves CPU time from one to another, and adds none. Some take 30 seconds of CPU time, some a hundredth of one; some live in pools of idle threads; some take longer with
# two workers than with one.
#
# So that no busy machine misleads you, the seconds of the hidden fits are written down beforehand: most are only told to you,
# some are really spent, and measured.

# %% [markdown] lab="hint classify_parallelism"
# Which measurements do you need at least? Write down what `.elsewhere` would be in each of them, for a fit that uses BLAS, and
# for one in which a helper burns time in vain.
#
# ---
#
# Measure once with every knob at 1. That is what you compare with. Then turn up one knob at a time. The trap: a large share
# says nothing by itself, and neither do threads that are alive. What counts is the difference.
#
# ---
#
# ```python
# alone = measure()
# if measure(openmp=2).elsewhere - alone.elsewhere >= 0.25:
#     return "openmp"
# ...  # the same for blas
# by_jobs = measure(n_jobs=2)
# if ...:  # that is no 0.25 more than alone
#     return "serial"
# return "processes" if ... else "threads"
# ```
#
# The check tells you, from the second attempt on, what there was to be seen of a fit.


# %% lab="answer classify_parallelism"
def classify_parallelism(measure):
    """ "serial", "openmp", "blas", "threads" or "processes"."""
    ### BEGIN SOLUTION
    alone = measure()
    if measure(openmp=2).elsewhere - alone.elsewhere >= 0.25:
        return "openmp"
    if measure(blas=2).elsewhere - alone.elsewhere >= 0.25:
        return "blas"
    by_jobs = measure(n_jobs=2)
    if by_jobs.elsewhere - alone.elsewhere < 0.25:
        return "serial"
    more = {"threads": by_jobs.helpers - alone.helpers, "processes": by_jobs.children - alone.children}
    return max(more, key=more.get)
    ### END SOLUTION


# %% [markdown] lab="readonly try-classify_parallelism"
# Try it first on a fit that you know. `measuring` makes a `measure` of any function of `n_jobs`:

# %%
from sklearn.cluster import KMeans

from lockstep.classical.knobs import measuring

X = np.random.default_rng(0).random((20_000, 10))
measure = measuring(lambda n_jobs: KMeans(40, n_init=1, max_iter=10).fit(X))
used = measure(openmp=2)
print(used)
print(f"elsewhere {used.elsewhere:.0%}")

# %% lab="tests classify_parallelism"
check("scikit_learn.classify_parallelism", classify_parallelism)

# %% [markdown] lab="readonly about-parallel_forest"
# ## 2. A parallel forest ({minutes} minutes, {points} points)
#
# A random forest is a list of decision trees that know nothing of each other. (Section 5 of the lesson.)
#
# - **You get** `X` of shape (n, d), `y` of shape (n,), `n_trees`, `n_jobs` and `seed`.
# - **You return** the list of `n_trees` fitted `DecisionTreeClassifier`s, in order, the same for every `n_jobs`.
# - **You may use** `Parallel`, `delayed` and the tree. (`RandomForestClassifier` would be somebody else's forest.)
# - **It may cost** one call of `Parallel` with `n_jobs` workers, and a task for each tree.
#
# Tree i is made like this, and in no other way:
#
# 1. `random = np.random.default_rng([seed, i])`
# 2. `rows = random.integers(n, size=n)`: n rows, drawn with replacement
# 3. `state = int(random.integers(2**31))`
# 4. `DecisionTreeClassifier(max_features="sqrt", random_state=state)`, fitted to those rows of `X` and `y`
#
# The check compares your trees with the serial forest, node by node, for several `n_trees` and `n_jobs`, of which neither
# need divide the other.

# %% [markdown] lab="hint parallel_forest"
# Write it without joblib first: a function that grows tree i, and a list of its results. What does the function need to know?
#
# ---
#
# A task is one call of that function. `delayed(f)(i)` writes the call down, `Parallel` makes it on a worker, and gives back
# what all calls return, in order. The trap: `delayed(f(i))` calls the function here, before any worker begins.
#
# ---
#
# ```python
# def grow(i):
#     random = np.random.default_rng([seed, i])
#     rows = ...
#     state = ...
#     return DecisionTreeClassifier(...).fit(...)
#
# return Parallel(n_jobs=...)(delayed(grow)(...) for i in ...)
# ```
#
# The check tells you which tree differs from the serial forest, and how many tasks you handed out.


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
# ## 3. A parallel step of k-means ({minutes} minutes, {points} points)
#
# One step of k-means: every row belongs to its nearest centre; each centre moves to the mean of its rows. (Section 4 of the
# lesson. Your `mean_of_parts` is its last line.)
#
# - **You get** `X` with n rows and d columns, `centres` with k rows and d columns, and `n_jobs`.
# - **You return** the moved centres, an array of floats of the shape of `centres`. A centre without rows stays where it is.
# - **You may use** `Parallel`, `delayed` and NumPy. `np.array_split(X, n_jobs)` cuts any number of rows.
# - **It may cost** one call of `Parallel` with at least `n_jobs` tasks (n will do where there are fewer rows), 8·n·d bytes to
#   all workers together, and 8·k·(d + 1) bytes back from each, plus what packs them.
#
# Each worker gets its own part of the rows, and no others. What comes back is small, however many rows it has. Threads copy
# nothing: with `prefer="threads"` the check counts the bytes that processes would be sent.

# %% [markdown] lab="hint parallel_kmeans_step"
# Take six rows, two centres and two workers. What must a worker tell you of its three rows, so that you can compute both means?
#
# ---
#
# For each centre: the sum of the worker's rows that are nearest to it, and their count. Add the sums, add the counts, divide
# once. Two traps: a function that names `X` takes all of `X` along; a centre may have a count of 0.
#
# ---
#
# ```python
# def partial(part):
#     squared = ((part[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)  # (rows, k)
#     nearest = squared.argmin(axis=1)
#     ...  # sums (k, d) and counts (k,) of the rows nearest to each centre
#     return sums, counts
#
# found = Parallel(n_jobs=n_jobs)(delayed(partial)(part) for part in ...)
# sums, counts = ..., ...
# moved = centres.astype(float)
# moved[counts > 0] = ...
# return moved
# ```
#
# The check tells you which coordinate of which centre is wrong, and how many bytes went where.


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
# ## 4. A parallel grid search ({minutes} minutes, {points} points)
#
# Score every candidate of a grid on every fold, all at once. (Section 5 of the lesson.)
#
# - **You get** an estimator, a grid, `X`, `y`, `cv` and `n_jobs`. `ParameterGrid(grid)` lists the candidates, whose values are
#   numbers and strings; `cv.split(X, y)` lists the folds: pairs `(train, test)` of row numbers.
# - **You return** a pair: the parameters (a dict) of the candidate with the best mean score, the first one if several are
#   equally good; and the list of the mean scores of all candidates, in the order of `ParameterGrid(grid)`.
# - **You may use** `Parallel`, `delayed`, `clone` and `ParameterGrid`. (`GridSearchCV` and `cross_val_score` call `Parallel`
#   themselves.)
# - **It may cost** one call of `Parallel` with `n_jobs` workers, and a task for each candidate *and* fold.
#
# The score of a candidate on a fold: a fresh copy of the estimator, `clone(estimator)`, with the candidate's parameters, is
# fitted to the rows `train`; its `.score` on the rows `test` counts. The mean is the plain one over the folds:
# each counts the same, however many rows it has. The estimator that you were given stays as it is. Call `cv.split` once: it may
# draw other folds each time, and of unequal sizes.

# %% [markdown] lab="hint parallel_grid_search"
# Two candidates, three folds. Write down all tasks as one list. What does each of them need to know, and what does it return?
#
# ---
#
# One function scores one candidate on one fold. One list has all pairs, candidate by candidate. So the scores of a candidate
# stand next to each other: `np.reshape(scores, (candidates, folds))`. The trap: a generator of folds is used up after the
# first candidate.
#
# ---
#
# ```python
# def score(parameters, train, test):
#     fitted = clone(estimator).set_params(...).fit(...)
#     return fitted.score(...)
#
# candidates, folds = list(ParameterGrid(grid)), list(cv.split(X, y))
# scores = Parallel(n_jobs=n_jobs)(
#     delayed(score)(...) for parameters in ... for train, test in ...
# )
# means = np.reshape(scores, (..., ...)).mean(axis=1)
# return ..., means.tolist()
# ```
#
# The check tells you how many candidates have a wrong mean, and what a tree was fitted to and scored on.


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
# its text. The grade counts only the exercises above; the points for these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-mend_oversubscription"
# ## 5. Mend: too many threads ({minutes} minutes, {points} points)
#
# The program below runs `cores` fits at once, and each believes that the whole machine is its own: up to cores² threads.
# (Section 7 of the lesson. Your `threads_each` is its heart.)
#
# - **You get** `fits`, a list of functions, and `cores`. `fit(n_threads)` computes with that many threads, and returns a
#   result. There may be more fits than cores, or fewer. `cores` need not be that of this machine.
# - **You return** the results, in the order of `fits`. Call each fit once.
# - **You may use** threads: the fits are objects of this process.
# - **It may cost** never more than `cores` threads of fits alive at once.
#
# But leave no cores idle. Run o = min(fits, cores) fits at once: fits need nothing of each other, and the threads inside a fit
# wait for one another. At some moment at least o · (cores // o) threads must be alive. Only the threads inside the fits
# count, not those of `Parallel`.

# %% [markdown] lab="hint mend_oversubscription"
# Take 8 cores. How many fits run at once, and with how many threads each, if there are 2, 3, 8 or 20 fits?
#
# ---
#
# Two numbers change in the given program: how many workers `Parallel` has, and what each fit is told. Their product must not
# exceed `cores`. The trap: with more fits than cores, `cores // fits` is 0.
#
# ---
#
# ```python
# outer = ...  # fits at once
# inner = ...  # threads of each
# return Parallel(n_jobs=..., prefer="threads")(delayed(fit)(...) for fit in fits)
# ```
#
# The check draws how many threads were alive, under the line of the cores.


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

# %% [markdown] lab="readonly about-dynamic_assignment"
# ## 6. Dynamic assignment ({minutes} minutes, {points} points)
#
# Some rows of an image of the Mandelbrot set take many times as long as others, and nobody knows which ones before. Keep all
# workers busy. (Section 6 of the lesson.)
#
# - **You get** `rows`, how many rows there are, and `pool`, its workers: 0 to `pool.workers` − 1. Their clock is virtual.
#   - `pool.start(worker, row)`: an idle worker begins a row.
#   - `pool.wait()` lets time pass until the next worker is done with its row, and returns `(worker, row, pixels)`. That
#     worker is idle then. Each call gives back one row.
# - **You return** the list of the `pixels` of all rows, in the order of the rows.
# - **You may use** `start`, `wait` and `workers`. No thread is needed: the pool computes.
# - **It may cost** no idle worker: whenever you call `wait`, every worker has a row, or all rows have been started.
#
# Start each row once, in any order. There may be fewer rows than workers, or none. It is an error to start a row on a worker
# that is not idle, and to wait when nobody computes.

# %% [markdown] lab="hint dynamic_assignment"
# Draw the lanes of two workers, and five rows of different lengths. At which moments do you have to decide something?
#
# ---
#
# First give each worker a row, as far as there are rows. Then wait for one, keep its pixels, and give that worker the next row
# if there is one. The trap: when the last row has been started, others are still being computed. Wait for these, too.
#
# ---
#
# ```python
# pixels = [None] * rows
# begun = min(rows, pool.workers)
# for worker in range(begun):
#     ...
# for _ in range(rows):
#     worker, row, pixels[row] = ...
#     if ...:  # a row is left
#         ...
#         begun += 1
# return pixels
# ```
#
# The check draws who computed which row, and tells who was idle, and when.


# %% lab="answer dynamic_assignment"
def dynamic_assignment(rows, pool):
    """The pixels of all rows, in order; no worker idles while a row is left."""
    ### BEGIN SOLUTION
    pixels = [None] * rows
    begun = min(rows, pool.workers)
    for worker in range(begun):
        pool.start(worker, worker)
    for _ in range(rows):
        worker, row, pixels[row] = pool.wait()
        if begun < rows:
            pool.start(worker, begun)
            begun += 1
    return pixels
    ### END SOLUTION


# %% [markdown] lab="readonly try-dynamic_assignment"
# To try it, make a pool of your own. `pool.time` says how long all of it took, and `pool.started` who began what:
#
# ```python
# from lockstep.classical.pool import mandelbrot_pool
#
# pool = mandelbrot_pool(workers=4, rows=64)
# dynamic_assignment(64, pool)
# print(pool.time)
# ```

# %% lab="tests dynamic_assignment"
check("scikit_learn.dynamic_assignment", dynamic_assignment)

# %% [markdown] lab="readonly end"
# ## Compare
#
# The library's answers are `pkg/lockstep/classical`, one page each. `parallel_kmeans_step` adds the workers' sums and
# gives everyone the result: that is an **all-reduce**. In unit 04 you write it for ranks that share nothing.
#
# Next comes [unit 02, Inside a CPU](../../course/02_cpu/lesson.ipynb).
