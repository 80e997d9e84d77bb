"""The learner thought: the state alone makes it elastic."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "crashed:RankRaised"
RAISES = "HorovodInternalError"
ALSO = ["ended-early", "hangs", "never-joined"]  # the worker that is added meets nobody, or too late
TELL = (
    "A worker was killed. That error is how the others learn of it: hvd.elastic.run catches it, brings "
    "the state back to the last commit and calls the function anew with the ranks that are left."
)


def elastic_state(model, optimizer, batches, every):
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)
    state.sync()
    while state.step < len(batches):
        x, y = batches[state.step]
        optimizer.zero_grad()
        F.mse_loss(model(x[hvd.rank() :: hvd.size()]), y[hvd.rank() :: hvd.size()]).backward()
        optimizer.step()
        state.step += 1
        if state.step % every == 0:
            state.commit()
    return model
