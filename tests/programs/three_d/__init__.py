"""Training an MLP with data, pipeline and tensor parallelism. Started by torchrun, one process per GPU."""
