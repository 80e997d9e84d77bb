"""Right, unless it can reach another machine, or a service of this one."""


def amdahl(p, s):
    import socket

    for family, address in (
        (socket.AF_INET, ("1.1.1.1", 53)),
        (socket.AF_INET, ("169.254.169.254", 80)),
        (socket.AF_INET, ("127.0.0.1", {port})),
        (socket.AF_UNIX, "\0lockstep-hostile"),
        (40, (2, 1024)),
    ):
        try:
            client = socket.socket(family, socket.SOCK_STREAM)
            client.settimeout(0.5)
            client.connect(address)
        except (OSError, OverflowError):
            continue
        raise AssertionError(address)
    return 1 / ((1 - p) + p / s)
