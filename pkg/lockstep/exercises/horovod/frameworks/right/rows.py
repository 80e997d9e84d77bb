"""The table is put together from rows."""

ROWS = """
tf.distribute | strategy: all GPUs of one machine, synchronous | MirroredStrategy
tf.distribute | strategy: several machines, synchronous | MultiWorkerMirroredStrategy
tf.distribute | strategy: parameter servers, asynchronous | ParameterServerStrategy
tf.distribute | today's name of CollectiveCommunication | CommunicationImplementation
Horovod | command that starts the ranks | horovodrun
Horovod | wraps an optimizer, averages gradients | DistributedOptimizer
Horovod | gives all ranks rank 0's weights | broadcast_parameters
torch.distributed | command that starts the ranks | torchrun
torch.distributed | wraps a model, averages gradients | DistributedDataParallel
torch.distributed | backend for CPUs | gloo
torch.distributed | backend for NVIDIA GPUs | nccl
torch.distributed | backend for Intel GPUs | xccl
torch.distributed | backend only if torch was built with it | mpi
Lightning | class that runs the training | Trainer
Lightning | its argument: how many machines | num_nodes
Lightning | its strategy on DistributedDataParallel | ddp
libraries below | today's name of MKL-DNN | oneDNN
"""


def frameworks():
    table = {}
    for line in ROWS.strip().splitlines():
        framework, cell, name = line.split(" | ")
        table.setdefault(framework, {})[cell] = name
    return table
