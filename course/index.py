# %% [markdown]
# # Lockstep
#
# You learn parallel machine learning here by doing it: you predict a number, you simulate it, you measure it,
# and you find out why the three differ. Everything runs on this machine. A cluster of 64 GPUs is simulated; what you
# write for it runs unchanged on a real one.
#
# Run the cell below (Shift+Enter). It shows what you have done and where to go on.

# %%
from lockstep.grading.course_map import course_map

course_map()

# %% [markdown]
# ## How a unit works
#
# 1. **The lesson** asks you for a number first. Commit one, even a guess. Then run the cells one after another, and
#    compare your prediction with the simulation and with the measurement.
# 2. **The lab** gives you functions to write or to mend. Run the cell below your function: it looks at the values
#    *and* at what was sent to whom, gives points, and says what it saw. Try as often as you like. Your best attempt
#    counts.
# 3. **The solution** is not in this folder. It stands under the same name in `solutions`, in the folder that you
#    cloned. Look when you have an answer of your own.
#
# This folder is yours: write into every notebook what you like. When the course has a new version of one that you have
# changed, yours stays, and the new one comes beside it as `lesson.new.ipynb`.
# [More on your work](../docs/your-work.md).
#
# ## The units
#
# <!-- units -->
#
# ## Where it comes from
#
# This course grew out of five public lecture notes. Their sentences and tables stand in the lessons as *a common claim*,
# or as a lecture's or a slide's, beside what you count. They are:
#
# - Maciej Marchwiany, *Parallel ML*
# - *A comprehensive guide to Advanced Parallelism Techniques for Machine Learning System Optimization*, 2024
# - *Parallelism*, lectures 7 and 8 of CS6787, 2024
# - Caspar van Leeuwen (SURF), *High Performance Machine Learning*, the day on parallel computing
# - *Parallelism*, of EECE695D: Efficient ML Systems, 2025
#
# [What of them is taught where](../docs/coverage.md).
#
# ## If something does not work
#
# Open a terminal (File, New, Terminal) and type `lockstep doctor`. It examines this machine and says what is wrong and
# how to mend it. Your points and predictions outlive a restart; `lockstep progress` lists them, lessons as well as labs.
