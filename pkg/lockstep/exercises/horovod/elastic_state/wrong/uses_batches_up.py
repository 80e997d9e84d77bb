"""The learner thought: a batch that is used is not needed again."""

import torch
import torch.nn.functional as F

MISCONCEPTION = "foreign-rows"


def elastic_state(model, optimizer, batches, every):
    import horovod.torch as hvd

    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)

    @hvd.elastic.run
    def train(state):

        while batches[state.step :]:
            x, y = batches[state.step]
            x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
            x.zero_()
            state.step += 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
