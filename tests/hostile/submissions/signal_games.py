"""It ignores every signal, sends them about, and runs on after its time."""
# status: crashed
# points: 0


def amdahl(p, s):
    import os
    import signal

    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        os.kill(os.getppid(), number)
    while True:
        pass
