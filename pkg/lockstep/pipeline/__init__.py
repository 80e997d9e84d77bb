"""Models in stages: a schedule says which stage works on which micro-batch when, and a worker carries it out.

Taught in unit 09. Read in this order:

    schedules            GPipe; 1F1B; interleaved; PipeDream; ZB-H1 (a file each)
    instructions         stream (what a stage can be told to do)
    worker               worker
    mailbox              (what stands together is posted at once)
    blocking_messages    (who sends first)
    stages               stage
    validate             legal (is a schedule?)
    simulate             (when each instruction runs)
    schedule_costs       bubble; activations
    stage_partition      partition
    pipedream_partition  (PipeDream's partitioner)
    stashing             weight stashing
    weight_version       (how old the weights are)
    pipedream_staleness  (what that does to the loss)
    pairs                (a stream as plain pairs)
    as_pairs             (1F1B and interleaved, so)
    plain_worker         (a worker for any schedule, plain)
    drops                (when a version may be forgotten)
    drawing              (a schedule drawn by hand)
    drawn_training       (a drawing trains a model)
"""
