# %% [markdown] lab="readonly title"
# # Lab 00: Why parallel
#
# You write the arithmetic that comes before every large training: what more machines bring, how long it takes, how much
# memory it needs, and how many machines to ask for. About an hour and a quarter.
#
# [The lesson of this unit](../../course/00_why_parallel/lesson.ipynb) explains what you need.

# %% [markdown] lab="readonly how"
# ## How to work
#
# - Write each function in its cell, in place of `raise NotImplementedError()`. The names of the functions stay.
# - Run the cell below it. It calls your function with many values, some of them unusual, and says what it saw and how
#   many points that gives. Try as often as you like.
# - All of these are functions of plain numbers and lists. You may use `math`, `numpy` and `torch`. Lockstep's own
#   answers refuse to be called: here you write them yourself.
# - Return the answer. Printing it is not enough.
#
# Letters, in the whole lab: **p** is the parallel fraction, a share from 0 to 1 of one worker's time that can be
# divided. 1 − p is serial. **s** is the number of workers.
#
# Try things out in cells of your own, as here:

# %% lab="readonly imports"
import math

import numpy as np

from lockstep import check, show

show.amdahl(p=0.9, workers=8)

# %% [markdown] lab="readonly about-amdahl"
# ## 1. Amdahl's law (10 minutes)
#
# The work stays the same, and s workers do it. One worker needs the time 1: the share 1 − p of it is serial, the share
# p is parallel. How many times as fast are s workers?
#
# - `p` is a float from 0 to 1, both included. `s` is an integer from 1 on.
# - Return the speedup, a float: the time of one worker, divided by the time of s workers.
# - Is it right at the ends? With p = 0, with p = 1, with one worker: you know what must come out.


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
# ## 2. Read p off measured times (20 minutes)
#
# Somebody ran a program with several numbers of workers, and measured. What is its p?
#
# By Amdahl's law $t = a + b/s$: a is the seconds of the serial part, b those of the parallel part on one worker.
# Against 1/s that is a straight line. Find it by least squares over *all* runs, and return p = b / (a + b).
#
# - `workers` is a list of integers, `times` a list of the same length: the seconds of each run.
# - A number of workers may occur several times. The runs are in any order. There may be no run with one worker.
# - The times are noisy in some of the cases. What is squared are differences in seconds, and no run counts more than
#   another: do not pick the best of each, give no weights, leave nothing out.
# - Return p, a float. Which function of numpy fits a line?


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
# ## 3. Days of training (15 minutes)
#
# How many days does a training take?
#
# - `params`: N, the number of parameters. `tokens`: D, how many tokens the training reads. It takes 6·N·D FLOP.
# - `devices`: the number of GPUs. `peak`: the FLOP/s that each can reach at best. 989 TFLOP/s are given as `989e12`.
# - `utilisation`: the share of the peak that they do reach, above 0 and up to 1. It counts all waiting.
# - Return days, a float, not rounded. A day has 24 hours.


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
# ## 4. Memory for training (15 minutes)
#
# How many bytes do the numbers take that a training keeps for every parameter?
#
# - `params`: the number of parameters, an integer.
# - `recipe`: a dictionary. Its keys say what is kept, its values in which dtype, as in
#   `{"weights": "bfloat16", "gradients": "bfloat16", "momentum": "float32", "variance": "float32"}`.
# - There is one number of each kind for every parameter. Add up whatever the recipe lists, and nothing else. There are
#   more kinds than this example has. Leave the dictionary as it is.
# - The dtypes are float64, float32, bfloat16, float16, float8 and int8. The number in the name counts **bits**. A byte
#   has 8 bits.
# - Return bytes: not GB, and not GiB.


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
# ## 5. Choose: how many workers? (15 minutes)
#
# A job takes `hours` on one worker. The share p of that can be divided. It has to be done within `deadline` hours. How
# many workers do you ask for? They cost money, so take as few as possible. Amdahl's law holds.
#
# - `hours` and `deadline` are floats above 0. `p` is a float from 0 to 1, both included.
# - Return the smallest number of workers that is in time: an **integer**, 1 or more. A deadline that is met exactly is
#   met.
# - Floats round: `(1 - 0.95) * 100` is 5.000000000000004. So 95 % of 100 hours within 10 hours may come out as 20
#   workers, where it is 19 by hand. The check asks for no number that hangs on this. The solution allows for it.
# - If no number of workers is enough, return `None`. (When is that?)
# - The check has some 40 deadlines. A few take thousands of workers, one takes more than a million. All of them
#   together may take 10 seconds.


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
# its text. The grade stands on the exercises above; the points of these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-gustafson"
# ## 6. Gustafson's law (10 minutes)
#
# Now the time stays the same, and the work grows. s workers take the time 1. During the share 1 − p of it only
# one of them works. During the share p all s of them work. How long would one worker need for all that work?
#
# - The same types as before. Here p is a share of the time on s workers.
# - Return the speedup, a float: what one worker would need, divided by 1.


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
