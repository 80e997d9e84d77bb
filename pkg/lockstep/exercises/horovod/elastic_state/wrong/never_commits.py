"""The learner thought: hvd.elastic.run saves what must be saved."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "never-commits"


def elastic_state(model, optimizer, batches, every):
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)

    @hvd.elastic.run
    def train(state):
        while state.step < len(batches):
            x, y = batches[state.step]
            optimizer.zero_grad()
            F.mse_loss(model(x[hvd.rank() :: hvd.size()]), y[hvd.rank() :: hvd.size()]).backward()
            optimizer.step()
            state.step += 1

    train(state)
    return model
