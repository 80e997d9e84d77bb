"""All at once in NumPy; argmax takes the first of equals."""

import numpy as np


def backup_workers(seconds):
    totals = np.sort(np.array(seconds), axis=1).sum(axis=0)[::-1]
    used = np.arange(len(totals), 0, -1)
    return int(np.argmax(used / totals))
