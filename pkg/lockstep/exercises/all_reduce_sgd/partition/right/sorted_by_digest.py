"""A digest is the same in every process, as hash() is not."""

import hashlib


def partition(dataset, rank, ranks, epoch):
    def key(i):
        return hashlib.sha256(f"{epoch} {i}".encode()).digest()

    return [dataset[i] for i in sorted(range(len(dataset)), key=key)[rank::ranks]]
