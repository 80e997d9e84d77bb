"""Cost models: FLOPs, bytes and seconds by formulas. Without torch, so that planner, checks and figures can use them.

Taught in unit 00. Read in this order:

    speedup               Amdahl; Gustafson
    training              FLOPs; days of training
    tasks                 critical path (of tasks that wait for each other)
    algorithms            (each collective, algorithm by algorithm)
    fit                   alpha; beta
    collectives           (a collective on a cluster; what NCCL and RCCL reach)
    operations            (an operation on a device: its FLOPs, its time by the roofline)
    reached_devices       (what programs reach of a GPU's data sheet)
    contention            (ports and cores that are busy; jitter)
    data_parallel         (an all-reduce hidden behind the backward pass; parameter servers)
    sharding              (what ZeRO's stages keep and send; the peak of a step)
    fsdp_units            (which layers are one FSDP unit)
    pipeline              (bubble, activations and bytes of a pipeline)
    tensor_parallel       (a layer under tensor parallelism)
    experts               (a layer of experts under expert parallelism)
    context_parallel      (attention whose sequence is cut)
    domain_decomposition  (a stencil on blocks)
    roofs                 (three roofs: compute, memory, network)
    inference             (prefill, decode, KV cache)
    loading               (a loader's budget; goodput under failures)
"""
