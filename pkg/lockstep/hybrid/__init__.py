"""Hybrid parallelism: tensor, pipeline and data parallelism together, executed on ranks or simulated at any size.

Taught in unit 12. Read in this order:

    mesh              mesh (the groups of any mesh of ranks)
    grid              grid of ranks; axis (dp, tp, pp, cp and ep; sizes of a GPT)
    expert_groups     (MoE parallel folding: expert parallelism inside dp and tp)
    expert_layer      (a mixture of experts in place of a layer's MLP)
    fp8_dispatch      (tokens travel to their experts in 8 bits)
    gpt_chunk         (some layers of a GPT on a tensor-parallel rank, with dropout and recomputation)
    gradient_buckets  ZeRO (the sum over data-parallel ranks, under the backward pass; its stages 1 and 2; Adam)
    sharded_weights   (ZeRO's stage 3: a layer is whole only while it computes)
    chunk_state       (the buckets of a chunk)
    instructions      (what a rank does in a training step, each instruction by itself)
    worker            (executes them)
    functional        (the step of the lab, on plain tensors)
    executed_step     (a step in full)
    simulated_step    (a step of GPT-3, on a laptop)
    published_steps   (steps of the papers, to be simulated)
    mixture_steps     (steps of mixtures of experts)
    beside_planner    (the planner's step beside the simulated one, item by item)
"""

from lockstep.hybrid.executed_step import training_step
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.simulated_step import SimulatedStep, simulate_step

__all__ = ["GPTSize", "Grid", "SimulatedStep", "simulate_step", "training_step"]
