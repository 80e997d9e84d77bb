"""The learner thought: the more often, the safer."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "commits-too-often"


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
            state.commit()

    train(state)
    return model
