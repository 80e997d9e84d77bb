"""Pure arithmetic about time, messages and bytes: no torch, so that planner, checks and figures can share it.

Taught in unit 00. Read in this order:

    speedup           Amdahl; Gustafson
    training          FLOPs; days of training
    tasks             critical path (tasks that wait for each other)
    peak              (bytes that a rank of ZeRO holds at most)
    algorithms        (each collective, algorithm by algorithm)
    fit               alpha; beta
    flat_network      (a collective on equal links)
    network           (a collective on a cluster)
    library           (what NCCL and RCCL reach)
    compute           (an operation on a device)
    flops             (floating-point operations of each of torch's)
    calendar          (a port or a core is busy)
    cores             (ranks that share cores)
    jitter            (times that vary)
    data_parallel     (when the backward pass hides the all-reduce)
    parameter_server  (a server has one port in and one out)
    gathered_units    (which layers to gather together)
    sharding          (what ZeRO's stages keep and send)
    bubble            (idle time and activations of a pipeline)
    pipeline          (bytes of a pipeline's rank)
    tensor            (a layer under tensor parallelism)
    experts           (a layer of experts on ranks)
"""
