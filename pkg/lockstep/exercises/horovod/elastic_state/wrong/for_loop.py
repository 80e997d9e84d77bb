"""The learner thought: train goes through all batches, as ever."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "from-the-beginning"


def elastic_state(model, optimizer, batches, every):
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)

    @hvd.elastic.run
    def train(state):
        for step, (x, y) in enumerate(batches):
            optimizer.zero_grad()
            F.mse_loss(model(x[hvd.rank() :: hvd.size()]), y[hvd.rank() :: hvd.size()]).backward()
            optimizer.step()
            state.step = step + 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
