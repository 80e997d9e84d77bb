"""Training without waiting for everybody: memory without locks, parameter servers, local steps, gossip, less traffic.

Each is plain torch.distributed on any world, except for HOGWILD!, whose threads share one memory.

Taught in unit 06. Read in this order:

    hogwild           HOGWILD!; sparse
    lock_free         lock
    parameter_server  parameter server; staleness
    delayed           delayed
    local_sgd         local SGD
    diloco            DiLoCo
    compression_with_error_feedback top-k; error feedback; PowerSGD
    gossip            gossip; mixing matrix; spectral gap
    push_sum          push-sum
    grouped           (average in groups that change)
    federated         federated averaging
    secure_aggregation (the server learns the sum alone)
    mask               (a one-time pad from a secret)
    problems          (what the unit trains)
"""
