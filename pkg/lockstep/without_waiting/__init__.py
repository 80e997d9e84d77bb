"""Training without waiting for everybody: memory without locks, parameter servers, local steps, gossip, less traffic.

Unit 06's reference implementations. Each of them is plain torch.distributed on any world, but for HOGWILD!, whose
threads share one memory.
"""
