"""The graders' server under a hub: JupyterLab with nbgrader's Formgrader, in the course's own folder.

`jupyterhub-singleuser --config=docker/grader_config.py`, started in that folder, with JUPYTER_CONFIG_PATH naming it."""

import os
from pathlib import Path

from lockstep.cli.lab import shell
from lockstep.grading.course import search_path

c = get_config()  # noqa: F821  (traitlets puts it there)

token = os.environ.get("LOCKSTEP_GRADER_TOKEN_FILE")  # in compose.yaml; elsewhere the hub hands its token over itself
if token:
    c.HubAuth.api_token = Path(token).read_text().strip()

c.ServerApp.root_dir = os.getcwd()
c.ServerApp.default_url = "/lab"
# Its terminals know lockstep and nbgrader.
os.environ["PATH"] = search_path()
c.ServerApp.terminado_settings = {"shell_command": [shell()]}
# Formgrader is a frame in JupyterLab's page. The hub forbids its pages to stand in frames, and then it stays blank.
c.ServerApp.tornado_settings = {"headers": {"Content-Security-Policy": "frame-ancestors 'self'"}}
c.LabApp.news_url = None  # no question about news, no call for them
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
