"""Pipeline parallelism: a schedule says which stage works on which micro-batch when, and a worker executes it.

Taught in unit 09. Read in this order:

    schedules            GPipe; 1F1B; interleaved; PipeDream; ZB-H1 (a file each)
    instructions         stream (the instructions of a stage, also as plain pairs)
    worker               worker (in one function, and complete)
    blocking_messages    (who sends first?)
    stages               stage
    validate             legal (is a schedule?)
    simulate             (when each instruction runs)
    schedule_costs       bubble; activations
    stage_partition      partition (PipeDream's, too)
    weight_stashing      weight stashing (PipeDream's versions of the weights)
    pipedream_staleness  (the effect of stale weights on the loss)
    schedules_as_pairs   (1F1B and interleaved 1F1B as plain pairs)
    drawn_schedule       (a schedule drawn by hand: is it legal?)
    drawn_training       (does it train a model?)
    wasted_slots         (where could a pass begin earlier?)
"""
