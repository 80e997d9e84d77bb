"""The learner thought: the step is a variable of mine."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "steps-missing"


def elastic_state(model, optimizer, batches, every):
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer)
    step = 0

    @hvd.elastic.run
    def train(state):
        nonlocal step
        while step < len(batches):
            x, y = batches[step]
            optimizer.zero_grad()
            F.mse_loss(model(x[hvd.rank() :: hvd.size()]), y[hvd.rank() :: hvd.size()]).backward()
            optimizer.step()
            step += 1
            if step % every == 0:
                state.commit()

    train(state)
    return model
