"""A JupyterHub for a class: docker/compose.yaml starts it, or `jupyterhub --config docker/jupyterhub_config.py`.

Settings come from the environment; docs/hub.md has them in a table.

LOCKSTEP_SPAWNER=docker (the default): each learner in a container of lockstep:cpu, the graders in one of their own.
LOCKSTEP_SPAWNER=local: each learner as the Linux user of that name, and the graders as the user LOCKSTEP_GRADER.
LOCKSTEP_SPAWNER=slurm: the same, and each learner's server is a job of theirs on a cluster that Slurm runs.

What is wrong with the settings is said in a sentence, and no hub starts.
"""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tornado.web import HTTPError

import lockstep
from lockstep.errors import UsageError
from lockstep.hub import accounts, files, sign_in

HERE = Path(__file__).resolve().parent
COURSE = "lockstep"  # nbgrader's name for the course, and of the service that grades it
GRADERS, LEARNERS = f"formgrade-{COURSE}", f"nbgrader-{COURSE}"  # groups, by the names that nbgrader gives them


def setting(name, default=None):
    value = os.environ.get(name) or default
    if value is None:
        sys.exit(f"jupyterhub_config.py: set {name}; docs/hub.md says what it is.")
    return value


def checked(check, *arguments):
    try:
        return check(*arguments)
    except UsageError as error:
        sys.exit(f"jupyterhub_config.py: {error}")


checked(files.refuse_secrets_in, os.environ)
kind = setting("LOCKSTEP_SPAWNER", "docker")
if kind not in ("docker", "local", "slurm"):
    sys.exit(f"jupyterhub_config.py: LOCKSTEP_SPAWNER is {kind}; set it to docker, local or slurm.")
local = kind != "docker"  # learners are Linux users
state = Path(setting("LOCKSTEP_HUB_STATE", ".")).resolve()
instructors = set(setting("LOCKSTEP_INSTRUCTORS").split())
exchange = setting("NBGRADER_EXCHANGE", "/srv/exchange")
if local:
    listed = [os.environ.get(f"LOCKSTEP_LEARNERS{form}", "") for form in ("", "_FILE", "_GROUP")]
    learners = set(checked(accounts.learners, *listed))
else:  # "*": whoever has the learners' password, by any name
    learners = set(setting("LOCKSTEP_LEARNERS", "*").split())

c = get_config()  # noqa: F821  (traitlets puts it there)

c.JupyterHub.bind_url = setting("LOCKSTEP_HUB_URL", "http://:8000")
c.JupyterHub.hub_port = int(setting("LOCKSTEP_HUB_PORT", "8081"))
c.ConfigurableHTTPProxy.api_url = setting("LOCKSTEP_PROXY_API", f"http://{'127.0.0.1' if local else 'proxy'}:8001")
c.JupyterHub.db_url = f"sqlite:///{state}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(state / "cookie_secret")
c.JupyterHub.cleanup_servers = kind == "local"  # containers and jobs live on while the hub is restarted

# Who may sign in. A Linux user does by their own password. In containers two passwords are enough for a workshop:
# whoever has the learners' signs in under any learner's name.
own = setting("LOCKSTEP_AUTHENTICATOR", "")
if own:
    load_subconfig(own)  # noqa: F821  (the same)
elif local:
    from jupyterhub.auth import PAMAuthenticator

    c.JupyterHub.authenticator_class = sign_in.slowed(PAMAuthenticator, sign_in.Failures())
else:
    from jupyterhub.authenticators.shared import SharedPasswordAuthenticator

    c.JupyterHub.authenticator_class = sign_in.slowed(SharedPasswordAuthenticator, sign_in.Failures())
    c.SharedPasswordAuthenticator.user_password = checked(files.secret, "LOCKSTEP_LEARNERS_PASSWORD", os.environ)
    c.SharedPasswordAuthenticator.admin_password = checked(files.secret, "LOCKSTEP_INSTRUCTORS_PASSWORD", os.environ)
c.Authenticator.admin_users = instructors
if learners == {"*"}:
    c.Authenticator.allow_all = True
else:
    c.Authenticator.allowed_users = learners | instructors
    c.Authenticator.allow_existing_users = False  # those of an older list are not on this one

# A learner's server.
hours = float(setting("LOCKSTEP_IDLE_HOURS", "2"))
processes = int(setting("LOCKSTEP_PROCESSES", "1024"))  # threads are counted, and torch starts some in each rank
c.Spawner.environment = {"NBGRADER_EXCHANGE": exchange}
c.Spawner.start_timeout = c.Spawner.http_timeout = 180
limits = ["prlimit", f"--nproc={processes}"]
if local:
    # The proxy, which scripts/hub has put beside this Python, and for learners' terminals: lockstep, nbgrader.
    programs = Path(sys.executable).parent
    os.environ["PATH"] = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
if kind == "local":
    c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"  # "simple" would hand in under one name
    c.Spawner.cmd = [*limits, sys.executable, "-m", "lockstep", "lab", "~/lockstep-course"]
    c.LocalProcessSpawner.popen_kwargs = {"umask": 0o077}  # others of this machine need not read what a learner writes
elif kind == "slurm":
    import batchspawner  # noqa: F401  (adds what a job calls to say at which port it listens)

    c.JupyterHub.hub_ip = c.JupyterHub.hub_connect_ip = setting("LOCKSTEP_HUB_IP")  # at which the nodes reach this one
    c.JupyterHub.spawner_class = "batchspawner.SlurmSpawner"
    c.SlurmSpawner.exec_prefix = "runuser -u {username} --"  # sbatch as the learner: Slurm counts the job as theirs
    c.SlurmSpawner.batchspawner_singleuser_cmd = " ".join([*limits, str(programs / "batchspawner-singleuser")])
    c.Spawner.cmd = [str(programs / "lockstep"), "lab", "~/lockstep-course"]
    c.Spawner.env_keep = ["PATH", "PYTHONPATH", "LANG", "LC_ALL", "SLURM_CONF"]
    c.SlurmSpawner.req_srun = ""  # under srun a notebook would look like a rank
    c.SlurmSpawner.req_prologue = "umask 077"
    c.SlurmSpawner.req_nprocs = setting("LOCKSTEP_CPUS", "2")
    c.SlurmSpawner.req_memory = setting("LOCKSTEP_MEMORY", "4G")
    c.SlurmSpawner.req_runtime = setting("LOCKSTEP_SLURM_TIME", "4:00:00")
    c.SlurmSpawner.req_partition = setting("LOCKSTEP_SLURM_PARTITION", "")
    c.SlurmSpawner.req_options = setting("LOCKSTEP_SLURM_OPTIONS", "")
    c.Spawner.start_timeout = 600  # it may wait in the queue
else:
    c.JupyterHub.spawner_class = "dockerspawner.DockerSpawner"
    c.DockerSpawner.image = setting("LOCKSTEP_IMAGE", "lockstep:cpu")
    c.DockerSpawner.cmd = ["lockstep", "lab", "/home/jovyan/lockstep-course"]
    c.DockerSpawner.network_name = setting("LOCKSTEP_NETWORK", "lockstep-learners")
    c.DockerSpawner.use_internal_ip = True
    c.DockerSpawner.remove = True  # what a learner keeps is in the volume
    c.DockerSpawner.volumes = {
        "lockstep-home-{username}": "/home/jovyan",
        setting("LOCKSTEP_EXCHANGE_VOLUME", "lockstep-exchange"): exchange,
    }
    c.DockerSpawner.mem_limit = setting("LOCKSTEP_MEMORY", "4G")
    c.DockerSpawner.cpu_limit = float(setting("LOCKSTEP_CPUS", "2"))
    c.DockerSpawner.extra_host_config = {
        "pids_limit": processes,
        "shm_size": setting("LOCKSTEP_SHM", "1g"),
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "read_only": True,
        "tmpfs": {"/tmp": "rw,exec,nosuid,nodev,size=1g"},
        # The cloud's metadata are behind an address that the network of compose.yaml does not lead to, and these names.
        "extra_hosts": {"metadata.google.internal": "127.0.0.1", "instance-data": "127.0.0.1"},
    }
    c.JupyterHub.hub_ip = "0.0.0.0"
    c.JupyterHub.hub_connect_ip = setting("LOCKSTEP_HUB_NAME", "hub")
    c.ConfigurableHTTPProxy.should_start = False
    c.ConfigurableHTTPProxy.auth_token = checked(files.secret, "LOCKSTEP_PROXY_TOKEN", os.environ)

# The graders' server is a service of the hub: several instructors, one gradebook. It works in the course's own folder.
grader = {"name": COURSE, "oauth_no_confirm": True}
if local:
    folder = Path(setting("LOCKSTEP_COURSE", str(HERE.parent))).resolve()
    people = accounts.Accounts(frozenset(learners), frozenset(instructors), setting("LOCKSTEP_GRADER", "grader"))
    checked(people.check)
    code = [*HERE.iterdir(), Path(sys.prefix, "bin"), Path(lockstep.__file__).parent, Path(os.__file__).parent]
    read = [Path(name) for name in (own, os.environ.get("LOCKSTEP_LEARNERS_FILE")) if name]
    checked(files.refuse_writable, [*code, *read, state], people.numbers())
    checked(files.refuse_open, folder / "grading", people.grader, "the gradebook")
    checked(files.refuse_open, state, "root", "the hub's database")
    checked(files.refuse_loose, Path(exchange))
    c.Authenticator.blocked_users = set(people.never())

    def only_those(spawner):
        """An instructor can add any name to a hub that runs, root's too, and start its server."""
        reason = people.reason(spawner.user.name)
        if reason:
            raise HTTPError(403, f"The hub starts no server for {spawner.user.name}: {reason}.")
        spawner.user_options = {}  # by the hub's API anybody could change lines of their job's script

    c.Spawner.pre_spawn_hook = only_those
    grader |= {
        "url": setting("LOCKSTEP_GRADER_URL", "http://127.0.0.1:8889"),
        "user": people.grader,
        "command": [sys.executable, "-m", "jupyterhub.singleuser", f"--config={HERE / 'grader_config.py'}"],
        "cwd": str(folder),
        "environment": {"JUPYTER_CONFIG_PATH": str(folder), "NBGRADER_EXCHANGE": exchange},
    }
else:
    grader |= {
        "url": setting("LOCKSTEP_GRADER_URL", "http://grader:8888"),
        "api_token": checked(files.secret, "LOCKSTEP_GRADER_TOKEN", os.environ),
    }
# How far the class is, for the projector (docs/board.md). Who reports, and who looks, is known to the hub.
BOARD = "board"
board_url = setting("LOCKSTEP_BOARD_URL", "")
boards = []
if board_url:
    reached = setting(
        "LOCKSTEP_BOARD_REACHED", setting("LOCKSTEP_HUB_URL", "http://:8000") if local else "http://proxy:8000"
    )
    address = urlsplit(reached)
    host = address.netloc if address.hostname else f"127.0.0.1:{address.port or 8000}"
    c.Spawner.environment["LOCKSTEP_BOARD"] = f"{address.scheme}://{host}{address.path.rstrip('/')}/services/{BOARD}/"
    c.Spawner.server_token_scopes = [
        "users:activity!user",
        "access:servers!server",
        f"access:services!service={BOARD}",
    ]
    board = {
        "name": BOARD,
        "url": board_url,
        "oauth_no_confirm": True,
        "command": [sys.executable, "-m", "lockstep", "board", "--hub"],
    }
    if local:
        board |= {"user": people.grader, "cwd": str(folder)}
    else:
        board["command"] += ["--keep", str(state / "board.jsonl")]
    boards = [board]
culler = {
    "name": "idle-culler",
    "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={round(3600 * hours)}"],
}
c.JupyterHub.services = [grader, culler, *boards]
c.JupyterHub.load_groups = {
    GRADERS: {"users": sorted(instructors)},
    LEARNERS: {"users": sorted(learners - {"*"})},
}
c.JupyterHub.load_roles = [
    {
        "name": "graders",
        "groups": [GRADERS],
        "scopes": [f"access:services!service={COURSE}", f"read:services!service={COURSE}", "list:services"],
    },
    *({"name": "user", "scopes": ["self", f"access:services!service={BOARD}"]} for _ in boards),  # whoever signs in
    {
        "name": "idle-culler",
        "services": ["idle-culler"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    },
]
