"""Ends well if the notebook server of this container answers: for docker's HEALTHCHECK, alone and under a hub."""

import os
from urllib.parse import urlsplit
from urllib.request import urlopen

place = urlsplit(os.environ.get("JUPYTERHUB_SERVICE_URL", "http://0.0.0.0:8888/"))
urlopen(f"http://127.0.0.1:{place.port}{place.path}api", timeout=5).close()
