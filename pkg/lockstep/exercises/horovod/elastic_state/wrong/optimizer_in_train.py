"""The learner thought: train begins anew, and so does its optimizer."""

import horovod.torch as hvd
import torch.nn.functional as F

MISCONCEPTION = "crashed:RankRaised"
ALSO = ["momentum-lost"]
RAISES = "^AssertionError: Gradients were computed more than"
TELL = (
    "hvd.DistributedOptimizer puts hooks on the gradients. If it is made inside the function that "
    "hvd.elastic.run calls, there is one more of it after each change: make it once, outside, and put it "
    "into the state."
)


def elastic_state(model, optimizer, batches, every):
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)

    @hvd.elastic.run
    def train(state):
        distributed = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
        while state.step < len(batches):
            x, y = batches[state.step]
            distributed.zero_grad()
            F.mse_loss(model(x[hvd.rank() :: hvd.size()]), y[hvd.rank() :: hvd.size()]).backward()
            distributed.step()
            state.step += 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
