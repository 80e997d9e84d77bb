"""Processes that have torch loaded: forked by a server, some of them ahead, or spawned where nothing may fork.

Read ``starter`` (what a caller uses), ``forkserver`` and ``child``, in this order; then ``preforked``, which forks
ahead of the next run, ``gc_freeze`` and ``hugepages``, which make a fork cheap, and ``spawned``.
"""
