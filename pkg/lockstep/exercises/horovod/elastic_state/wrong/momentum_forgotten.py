"""The learner thought: the model and the step are the state; momentum is nothing that anybody would miss."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "momentum-ahead"


def elastic_state(model, optimizer, batches, every):
    state = hvd.elastic.TorchState(model=model, step=0)

    @hvd.elastic.run
    def train(state):
        while state.step < len(batches):
            x, y = batches[state.step]
            optimizer.zero_grad()
            F.mse_loss(model(x[hvd.rank() :: hvd.size()]), y[hvd.rank() :: hvd.size()]).backward()
            for name, parameter in model.named_parameters():
                parameter.grad = hvd.allreduce(parameter.grad, name=name)
            optimizer.step()
            state.step += 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
