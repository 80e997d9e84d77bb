# %% [markdown] lab="readonly title"
# # Lab 00: Why parallel
#
# You write the arithmetic that comes before every large training: what more machines bring, how long it takes, how much
# memory it needs, and how many machines to ask for.
#
# [The lesson](../../course/00_why_parallel/lesson.ipynb) explains what you need. Each exercise names its section.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it calls your function
# with many values, some of them unusual, and says what it saw and how many points that gives. Try as often as you like.
# Each exercise has three folded hints.
#
# All of these are functions of plain numbers and lists. You may use Python, `math`, `numpy` and `torch`. Compute in float64,
# as Python does; a whole number may be too large for an int64. Lockstep's own answers refuse to be called: here you write
# them yourself. **Return** the answer. Printing it is not enough. What your function is given stays as it is: others may
# still need it.
#
# In the whole lab, **p** is the parallel fraction, a share from 0 to 1 of one worker's time that can be divided; 1 − p is
# serial. **s** is the number of workers.
#
# Try things out in cells of your own, as here:

# %% lab="readonly imports"
import math

import numpy as np

from lockstep import check, show

show.amdahl(p=0.9, workers=8)

# %% [markdown] lab="readonly about-amdahl"
# ## 1. Amdahl's law ({minutes} minutes, {points} points)
#
# How many times as fast are s workers? The work stays the same. (Section 5 of the lesson.)
#
# - **You get** `p`, a float from 0 to 1, both included, and `s`, an integer from 1 on. One worker needs the time 1: the
#   share 1 − p of it is serial, the share p is parallel.
# - **You return** the speedup, a float: the time of one worker, divided by the time of s workers.
# - **You may use** plain arithmetic.
# - **It may cost** nothing worth counting.
#
# At the ends you know what must come out: p = 0, p = 1, one worker.

# %% [markdown] lab="hint amdahl"
# Take p = 0.75 and s = 3. How much of the time 1 is serial? How much is parallel, and what becomes of that with 3 workers?
#
# ---
#
# Your line in section 5 gives hours. Take 1 hour: what is left of it on s workers? The speedup says how many times that fits
# into the 1 hour. The trap: the more time is left, the smaller the speedup.
#
# ---
#
# ```python
# serial = ...  # what nobody can divide
# parallel = ...  # the rest, with s workers
# return 1 / (...)
# ```
#
# The check tells you when you return a time, or divide the wrong part.


# %% lab="answer amdahl"
def amdahl(p, s):
    """The speedup of s workers on the same work."""
    ### BEGIN SOLUTION
    time_of_one = (1 - p) + p
    time_of_s = (1 - p) + p / s
    return time_of_one / time_of_s
    ### END SOLUTION


# %% lab="tests amdahl"
check("why_parallel.amdahl", amdahl)

# %% [markdown] lab="readonly about-fit_parallel_fraction"
# ## 2. Read p off measured times ({minutes} minutes, {points} points)
#
# Somebody ran a program with several numbers of workers, and measured. What is its p? (Section 6 of the lesson.)
#
# - **You get** `workers`, a list of integers, and `times`, a list of the same length: the seconds of each run.
# - **You return** p, a float.
# - **You may use** `numpy`, and what it has for fitting a line.
# - **It may cost** one fit: least squares over *all* runs, with differences in seconds, and no run counts more than another.
#
# By Amdahl's law t = a + b/s: a seconds are serial, b are parallel on one worker. Against 1/s that is a straight line, and
# p = b/(a + b). A number of workers may occur several times. The runs are in any order. There may be no run with one worker.
# In some of the cases the times are noisy: pick no best ones, give no weights, leave nothing out.

# %% [markdown] lab="hint fit_parallel_fraction"
# Take two runs: 1 worker, 10 s, and 2 workers, 6 s. Draw them, with 1/s to the right and seconds upwards. Where does the line
# meet the axis at 1/s = 0, and what does that time mean?
#
# ---
#
# The height at 0 is a, the slope is b. `np.polyfit` with `deg=1` finds both. The trap: it is a line in 1/s, not in s. And
# make `workers` an array of floats first: a list can't be divided.
#
# ---
#
# ```python
# x = 1 / np.array(..., dtype=float)
# slope, height = np.polyfit(x, ..., deg=1)
# return float(...)  # of these two: which share is parallel?
# ```
#
# The check tells you when you fit against s, or return the serial share.


# %% lab="answer fit_parallel_fraction"
def fit_parallel_fraction(workers, times):
    """The p of Amdahl's law that explains the times best."""
    ### BEGIN SOLUTION
    shares = 1 / np.array(workers, dtype=float)
    b, a = np.polyfit(shares, np.array(times), deg=1)
    return float(b / (a + b))
    ### END SOLUTION


# %% lab="tests fit_parallel_fraction"
check("why_parallel.fit_parallel_fraction", fit_parallel_fraction)

# %% [markdown] lab="readonly about-training_days"
# ## 3. Days of training ({minutes} minutes, {points} points)
#
# How many days does a training take? (Section 3 of the lesson.)
#
# - **You get** `params`, N parameters; `tokens`, D tokens that the training reads; `devices`, the number of GPUs; `peak`,
#   the FLOP/s that each reaches at best (989 TFLOP/s are given as `989e12`); `utilisation`, the share of the peak that they
#   do reach, above 0 and up to 1. It counts all waiting.
# - **You return** days, a float, not rounded. A day has 24 hours.
# - **You may use** plain arithmetic. Training takes 6·N·D FLOP.
# - **It may cost** nothing worth counting.

# %% [markdown] lab="hint training_days"
# Write down the units: FLOP, FLOP in a second, seconds, days. Which do you divide by which?
#
# ---
#
# The time is the work by the rate. All GPUs together have the rate: how many, times what each reaches. The trap: the
# utilisation makes the rate smaller, so the time longer.
#
# ---
#
# ```python
# flop = 6 * ...
# flop_per_second = devices * ...
# seconds = ...
# return seconds / ...
# ```
#
# The check tells you when you return seconds or hours, or take the peak for what they reach.


# %% lab="answer training_days"
def training_days(params, tokens, devices, peak, utilisation):
    """Days of training."""
    ### BEGIN SOLUTION
    flop = 6 * params * tokens
    flop_per_second = devices * peak * utilisation
    return flop / flop_per_second / (24 * 60 * 60)
    ### END SOLUTION


# %% lab="tests training_days"
check("why_parallel.training_days", training_days)

# %% [markdown] lab="readonly about-training_memory"
# ## 4. Memory for training ({minutes} minutes, {points} points)
#
# How many bytes do the numbers take that a training keeps for every parameter? (Section 4 of the lesson.)
#
# - **You get** `params`, the number of parameters, an integer; and `recipe`, a dictionary, perhaps an empty one. Its keys
#   say what is kept, its values in which dtype:
#   `{"weights": "bfloat16", "gradients": "bfloat16", "momentum": "float32", "variance": "float32"}`.
# - **You return** bytes: not GB, and not GiB.
# - **You may use** Python. The dtypes are float64, float32, bfloat16, float16, float8 and int8. The number in the name counts
#   **bits**. A byte has 8 bits.
# - **It may cost** nothing worth counting. Leave the dictionary as it is.
#
# There is one number of each kind for every parameter. Add up whatever the recipe lists, and nothing else: there are more
# kinds than this example has.

# %% [markdown] lab="hint training_memory"
# Take the example and one parameter. How many bytes is each of its four numbers? What is their sum?
#
# ---
#
# Only the values count, not the keys: you need no list of kinds. The trap: two kinds may have the same dtype, and both count.
#
# ---
#
# ```python
# size = {"float64": 8, ...}  # bytes
# each = sum(... for dtype in recipe...)
# return ...
# ```
#
# The check tells you when you count bits, or forget a kind.


# %% lab="answer training_memory"
def training_memory(params, recipe):
    """Bytes of all that the recipe keeps."""
    ### BEGIN SOLUTION
    size = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
    return params * sum(size[dtype] for dtype in recipe.values())
    ### END SOLUTION


# %% lab="tests training_memory"
check("why_parallel.training_memory", training_memory)

# %% [markdown] lab="readonly about-workers_needed"
# ## 5. Choose: how many workers? ({minutes} minutes, {points} points)
#
# A job has a deadline, and workers cost money. How few are enough? (Section 5 of the lesson.)
#
# - **You get** `hours`, what the job takes on one worker; `p`, the share of that which can be divided, from 0 to 1, both
#   included; `deadline`, the hours that you have. `hours` and `deadline` are floats above 0. Amdahl's law holds.
# - **You return** the smallest number of workers that is in time: an **integer**, 1 or more. A deadline that is met exactly
#   is met. If no number of workers is enough, return `None`.
# - **You may use** Python and `math`.
# - **It may cost** 10 seconds for some 40 deadlines. A few take thousands of workers, one takes more than a million.
#
# Floats round: `(1 - 0.95) * 100` is 5.000000000000004. So 95 % of 100 hours within 10 hours may come out as 20 workers, where
# it is 19 by hand. The check asks for no number that hangs on this.

# %% [markdown] lab="hint workers_needed"
# Take 100 hours, p = 0.9 and a deadline of 20 hours. The serial part takes 10. How many hours are left for the other 90? Then
# take a deadline of 9.
#
# ---
#
# What the serial part leaves of the deadline is for the parallel part, which takes p·hours/s. Solve that for s and round up.
# Two traps: nothing may be left; and when nothing is left, one worker may still be in time, since p = 0 needs no time for
# the parallel part.
#
# ---
#
# ```python
# if ...:  # one worker is in time
#     return 1
# left = deadline - ...  # for the parallel part
# if ...:
#     return None
# return math.ceil(...)
# ```
#
# The check tells you when you are one too high or too low, and which deadline it was.


# %% lab="answer workers_needed"
def workers_needed(hours, p, deadline):
    """The fewest workers that are in time; None if no number is."""
    ### BEGIN SOLUTION
    if hours <= deadline:
        return 1
    left_for_parallel_part = deadline - (1 - p) * hours
    rounding = 1e-14 * hours  # floats round: (1 - 0.95) * 100 is 5.000000000000004
    if left_for_parallel_part <= rounding:
        return None
    return math.ceil(p * hours / (left_for_parallel_part + rounding))
    ### END SOLUTION


# %% lab="tests workers_needed"
check("why_parallel.workers_needed", workers_needed)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of each exercise are folded: open them by the button below
# its text. The grade counts only the exercises above; the points for these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-gustafson"
# ## 6. Gustafson's law ({minutes} minutes, {points} points)
#
# The time stays the same, and the work grows. How much more is done? ([More](../../course/00_why_parallel/more.ipynb) has
# the law.)
#
# - **You get** `p` and `s`, of the same types as in exercise 1. Here s workers take the time 1. During the share 1 − p of it
#   only one of them works. During the share p all s of them work. So p is a share of the time on s workers.
# - **You return** the speedup, a float: what one worker would need for all that work, divided by 1.
# - **You may use** plain arithmetic.
# - **It may cost** nothing worth counting.

# %% [markdown] lab="hint gustafson"
# Take p = 0.5 and s = 3. Draw three lanes of one hour. In which part are all three busy? How many hours of work is the whole?
#
# ---
#
# One worker does it all one after another: what was done alone, and s times what was done together. The trap: here p is
# multiplied, not divided.
#
# ---
#
# ```python
# alone = ...
# together = ...  # what all s workers did in that time
# return ...
# ```
#
# The check tells you when you have written Amdahl's law.


# %% lab="answer gustafson"
def gustafson(p, s):
    """The speedup of s workers on work that grows with them."""
    ### BEGIN SOLUTION
    alone, together = 1 - p, p * s
    return alone + together
    ### END SOLUTION


# %% lab="tests gustafson"
check("why_parallel.gustafson", gustafson)

# %% [markdown] lab="readonly where-next"
# ## Where to go on
#
# Take a program of your own that uses several cores. Measure it with 1, 2 and 4 of them, hand the times to your
# `fit_parallel_fraction`, and draw them: `show.amdahl(p=..., times={1: ..., 2: ..., 4: ...})`. What would 100 cores
# bring?
#
# The library's own answers are in `pkg/lockstep/cost/speedup.py` and `pkg/lockstep/cost/training.py`.
#
# Next comes [unit 01, scikit-learn and joblib](../../course/01_scikit_learn/lesson.ipynb).
