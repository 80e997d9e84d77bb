"""MPI is not the only backend that torch must be built with."""


def frameworks():
    return {
        "tf.distribute": {
            "strategy: all GPUs of one machine, synchronous": "MirroredStrategy",
            "strategy: several machines, synchronous": "MultiWorkerMirroredStrategy",
            "strategy: parameter servers, asynchronous": "ParameterServerStrategy",
            "today's name of CollectiveCommunication": "CommunicationImplementation",
        },
        "Horovod": {
            "command that starts the ranks": "horovodrun",
            "wraps an optimizer, averages gradients": "DistributedOptimizer",
            "gives all ranks rank 0's weights": "broadcast_parameters",
        },
        "torch.distributed": {
            "command that starts the ranks": "torchrun",
            "wraps a model, averages gradients": "DistributedDataParallel",
            "backend for CPUs": "gloo",
            "backend for NVIDIA GPUs": "nccl",
            "backend for Intel GPUs": "xccl",
            "backend only if torch was built with it": "ucc",
        },
        "Lightning": {
            "class that runs the training": "Trainer",
            "its argument: how many machines": "num_nodes",
            "its strategy on DistributedDataParallel": "ddp",
        },
        "libraries below": {"today's name of MKL-DNN": "oneDNN"},
    }
