"""The learner thought: every + 1 steps are made before the first commit."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "commits-untimely"
ALSO = ["commits-too-seldom"]


def elastic_state(model, optimizer, batches, every):
    import horovod.torch as hvd

    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)

    @hvd.elastic.run
    def train(state):

        while state.step < len(batches):
            x, y = batches[state.step]
            x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
            state.step += 1
            if state.step % every == 1 % every and state.step > 1:
                state.commit()

    train(state)
    return model
