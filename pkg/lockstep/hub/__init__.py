"""What docker/jupyterhub_config.py refuses. A hub is root, or holds docker's engine: it looks at its settings first.

``accounts``   which Linux users get a server, and which never do
``files``      what it reads and what it guards: secrets, its own code, the gradebook
``sign_in``    failed sign-ins wait, longer each time
"""
