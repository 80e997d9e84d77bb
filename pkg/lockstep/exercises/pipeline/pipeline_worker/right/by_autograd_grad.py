"""Ask for the gradients of each micro-batch, and add them up by hand."""

import torch
import torch.distributed as dist


def pipeline_worker(module, stream, inputs, targets, loss, shape, group=None):
    stage, stages = dist.get_rank(group), dist.get_world_size(group)
    parameters = list(module.parameters())
    total = [torch.zeros_like(parameter) for parameter in parameters]
    kept, coming, going, outgoing = {}, {}, {}, {}
    batch = []

    def flush():
        for work in dist.batch_isend_irecv(batch) if batch else []:
            work.wait()
        batch.clear()

    for what, i in stream:
        if what == "F":
            flush()
            x = inputs[i] if stage == 0 else coming.pop(i).requires_grad_()
            output = module(x)
            kept[i] = x, output
            if stage < stages - 1:
                outgoing[i] = output.detach()
        elif what == "B":
            flush()
            x, output = kept.pop(i)
            wanted = parameters + ([x] if stage else [])
            if stage == stages - 1:
                found = torch.autograd.grad(loss(output, targets[i]) / len(targets), wanted)
            else:
                found = torch.autograd.grad(output, wanted, coming.pop(("dy", i)))
            for whole, part in zip(total, found):
                whole += part
            if stage:
                going[i] = found[-1]
        elif what == "send activation":
            batch.append(dist.P2POp(dist.isend, outgoing.pop(i), group=group, group_peer=stage + 1))
        elif what == "send gradient":
            batch.append(dist.P2POp(dist.isend, going.pop(i), group=group, group_peer=stage - 1))
        elif what == "receive activation":
            coming[i] = torch.empty(shape)
            batch.append(dist.P2POp(dist.irecv, coming[i], group=group, group_peer=stage - 1))
        else:
            coming["dy", i] = torch.empty_like(kept[i][1])
            batch.append(dist.P2POp(dist.irecv, coming["dy", i], group=group, group_peer=stage + 1))
    flush()
    return total
