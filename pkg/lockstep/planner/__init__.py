"""The planner: how to divide a model's training among GPUs, how long a step takes, what fits, what it costs.

An analytic model, without torch: no kernel is run and no message sent. ``lockstep plan`` asks it, ``lockstep bench
plan`` holds it against published steps, and docs/plan.md says what it knows, how far it is off, and what it cannot.

    job, cluster, stack  ->  search  ->  estimate  =  compute + communication + bubble + optimizer, and memory
                                                      -> explain, invoice

Read in this order:

    hashed_once     a dataclass that is a key of caches
    models          shapes of Transformers, by name or by numbers
    clusters        GPUs, NVLink domains, networks; by name or from a file
    stacks          the software, and the constants that were calibrated
    plans           dp, tp, pp and the others; which are illegal, and by which rule
    compute         seconds of a layer, kernel by kernel
    communication   seconds of a collective on the levels of a cluster
    memory          bytes on the fullest GPU, by kind
    step            the parts of a training step, added up
    two_kinds       a pipeline on GPUs of two kinds, and unequal shares
    search          all plans that can be meant, the best first
    infeasible      the first reason why a plan cannot run
    invoice         days and dollars, with failures and checkpoints
    offers          the cheapest plan that fits and is in time, failures included
    checkpoints     Young's interval, in whole steps
    answers         what `lockstep plan` answers, as data and as a table
    explain         where a plan's seconds and bytes come from
    cases           published steps: what it was calibrated on, and what it is held against
    missing_axis    what a published row leaves out
    memory_cases    published bytes
    scores          errors, the order of plans, regret; the best constant
"""
