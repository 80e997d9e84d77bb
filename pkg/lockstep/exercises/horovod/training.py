"""The sentence about a training script for each fact of `lockstep.exercises.horovod.replayed`, by its name."""

TOLD = {
    "never-called": "rank {rank} never calls the model with gradients.",
    "foreign-rows": "rank {rank} calls the model with numbers that are no rows of the dataset.",
    "batch-size": "rank {rank} takes a step on {size} rows. batch is what each rank takes: {batch} rows.",
    "all-rows": "each rank goes through all {rows} rows in each epoch. They share them: each rank takes another part.",
    "too-few-rows": "rank {rank} goes through {given} rows in all. Its share is {share}.",
    "too-many-rows": "rank {rank} calls the model with {given} rows in all. Its share is {share}, once in each epoch.",
    "row-on-several": "in epoch {epoch} row {row} is seen by ranks {ranks}, and {missing} rows by nobody. Do all ranks "
    "shuffle alike before they share?",
    "row-twice": "in epoch {epoch} rank {ranks} sees row {row} {number} times, and {missing} rows are seen by nobody.",
    "same-order": "in epochs {epoch} and {next} each rank takes the same rows in the same order. Each epoch needs a "
    "new order; a DistributedSampler makes one when set_epoch tells it the epoch.",
    "own-start": "rank {rank} begins with weights of its own. All begin with those of rank 0.",
    "own-parts": "rank {rank} begins with some numbers of its own: {parts}. All of rank 0's model has to be broadcast, "
    "what is not trained, too.",
    "checkpoint-ignored": "all ranks begin with rank 0's weights, which are not the checkpoint's. Load it first.",
    "checkpoint-on-rank-0": "rank {rank} begins with weights that rank 0 had before it loaded the checkpoint.",
    "other-start": "rank {rank} begins with weights that are neither its own nor rank 0's: {parts}.",
    "own-gradient": "step {step} of rank {rank} follows the gradient of its own rows alone. It is the mean over all "
    "ranks that counts.",
    "too-large": "step {step} is too large. The gradient is the mean over ranks, and the rate is {K}·rate, which a "
    "checkpoint has already: is one of them multiplied by {K} once more?",
    "sum-at-rate": "step {step} follows the sum of the ranks' gradients, at the rate `rate`. The momentum of the "
    "checkpoint is one of means, for {K}·rate: average, and take that rate.",
    "gradients-add-up": "step {step} follows the sum of the gradients of all steps so far: a backward pass adds to "
    "what stands in .grad. Set that to zero before each one.",
    "rate-not-scaled": "step {step} is one at the learning rate `rate`. {K} ranks take {K}·rate.",
    "rate-divided": "step {step} is one at the rate `rate`/{K}. {K} ranks take {K}·rate.",
    "momentum-lost": "the first step is made without the checkpoint's momentum. Which optimizer did you load it into? "
    "hvd.DistributedOptimizer makes a new one, which takes over the rate and no momentum.",
    "momentum-on-rank-0": "the first step of rank {rank} is made without the checkpoint's momentum, and that of rank 0 "
    "with it. The optimizer's state has to be broadcast, too.",
    "momentum-restarts": "step {step} of rank {rank} begins without momentum, as if the optimizer were a new one.",
    "other-step": "after step {step} numbers of rank {rank}'s model are off by up to {off:.2g}; before it all were "
    "right.",
    "shut-down": "rank {rank} calls hvd.shutdown(). Whoever has called your function may go on with Horovod.",
    "no-model": "rank {rank} returns something of type {type}. The trained model is wanted.",
    "not-saved": "nobody calls save. Rank 0 does, once, when all is trained.",
    "all-save": "save is called by the ranks {savers}. They would write the same file at once: rank 0 alone saves.",
    "other-rank-saves": "it is rank {rank} that saves. Rank 0 does.",
    "saves-often": "rank 0 saves {number} times. Once is enough, when all is trained.",
    "saves-something-else": "what is saved is {type}. It is a dict of the state_dict of the model and the optimizer's.",
    "saves-other-weights": 'the "model" that is saved is not the trained one.',
    "saves-no-momentum": "the optimizer that is saved has no momentum, so it is not the one that made the steps.",
    "saves-other-momentum": "the momentum that is saved is not that of the mean gradients.",
    "saves-other-rate": "the learning rate that is saved is {rate:g}. It is {wanted:g}.",
}
