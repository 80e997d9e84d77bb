"""The learner thought: a rank keeps its number."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "stale-rank"


def elastic_state(model, optimizer, batches, every):
    rank, size = hvd.rank(), hvd.size()
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)

    @hvd.elastic.run
    def train(state):
        while state.step < len(batches):
            x, y = batches[state.step]
            optimizer.zero_grad()
            F.mse_loss(model(x[rank::size]), y[rank::size]).backward()
            optimizer.step()
            state.step += 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
