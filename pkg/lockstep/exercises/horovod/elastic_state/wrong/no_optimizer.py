"""The learner thought: the model and the step are the state."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "crashed:RankRaised"
ALSO = ["apart"]
RAISES = "^AssertionError: optimizer.zero_grad"
TELL = (
    "Something came between loss.backward() and optimizer.step(). A failure does: then the optimizer has "
    "to be in the state, which brings it back to the last commit. So does state.commit() where a worker is "
    "added: commit after optimizer.step()."
)


def elastic_state(model, optimizer, batches, every):
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, step=0)

    @hvd.elastic.run
    def train(state):
        while state.step < len(batches):
            x, y = batches[state.step]
            optimizer.zero_grad()
            F.mse_loss(model(x[hvd.rank() :: hvd.size()]), y[hvd.rank() :: hvd.size()]).backward()
            optimizer.step()
            state.step += 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
