"""What Lockstep installs on demand: Horovod in this environment, other frameworks each in one of its own.

Read in this order:

    heard         a command whose lines are heard as they come; why it failed, in one sentence
    with_pip      pip, and the versions that it is held to
    kept          where what was installed is kept; one process at a time
    frameworks    TensorFlow and Lightning: their packages, as data
    environments  an environment of its own for one of them: completely, or not at all
    side_by_side  commands that run side by side, and that nothing outlives
"""
