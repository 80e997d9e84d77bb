"""Settings of Jupyter's programs that tests start, who find them by JUPYTER_CONFIG_PATH: a kernel's sockets are files.

A TCP port that was free when it was chosen was another kernel's a moment later: "Address already in use".
"""

import atexit
import shutil
import tempfile

folder = tempfile.mkdtemp(prefix="kernel-", dir="/tmp")  # short: the path of a socket has at most 107 bytes
atexit.register(shutil.rmtree, folder, ignore_errors=True)

c = get_config()  # noqa: F821  (traitlets puts it there)

c.KernelManager.transport = "ipc"
c.KernelManager.ip = f"{folder}/socket"
