"""The learner thought: a name of another module, or the class behind the string, will do as well."""

MISCONCEPTION = "name-close-by"


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
            "gives all ranks rank 0's weights": "broadcast_variables",
        },
        "torch.distributed": {
            "command that starts the ranks": "torchrun",
            "wraps a model, averages gradients": "DistributedDataParallel",
            "backend for CPUs": "gloo",
            "backend for NVIDIA GPUs": "nccl",
            "backend for Intel GPUs": "xccl",
            "backend only if torch was built with it": "mpi",
        },
        "Lightning": {
            "class that runs the training": "Trainer",
            "its argument: how many machines": "num_nodes",
            "its strategy on DistributedDataParallel": "DDPStrategy",
        },
        "libraries below": {"today's name of MKL-DNN": "oneDNN"},
    }
