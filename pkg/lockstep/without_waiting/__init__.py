"""Training without waiting for everybody: memory without locks, parameter servers, local steps, gossip, less traffic.

Each is plain torch.distributed on any world, but for HOGWILD!, whose threads share one memory.

Taught in unit 06. Read in this order:

    hogwild           HOGWILD!
    lock_free         lock
    sparse            sparse
    parameter_server  parameter server
    several_servers   (each with a shard of the parameters)
    staleness         staleness
    delayed           delayed
    local_sgd         local SGD
    compression_with_error_feedback top-k; error feedback; PowerSGD
    graphs            mixing matrix; spectral gap
    gossip            gossip
    best_mixing       (the graph with the largest gap)
    push_sum          push-sum
    grouped           (average in groups that change)
    federated         federated averaging
    mask              (numbers drawn by a secret)
    masked            (secure aggregation: the server learns the sum alone)
    arrivals          (who arrived when)
    problems          (what the unit trains)
"""
