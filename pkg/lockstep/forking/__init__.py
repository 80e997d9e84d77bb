"""Processes that have torch loaded: forked by a fork server, some of them ahead of time, or spawned where nothing may
fork.

Read in this order:

    starter       what a caller uses: start n processes at an entry point
    forkserver    the server: loads torch once, forks a child per request, reports exit statuses
    fork_request  the message to it
    preloaded     what the server loads at once, when a run needs it, or while nobody asks
    child         a child process as its starter sees it, and the child's first steps
    preforked     a pool of spares, forked ahead, that have joined each other's process group
    left_behind   what ranks leave behind: processes in sessions of their own, orphans
    shared_memory what ranks leave behind in /dev/shm
    gc_freeze     gc.freeze before forks, so that a child's collector copies no pages
    hugepages     the server's memory in 2 MiB pages, so that a fork is cheap
    spawned       warm interpreters for systems on which torch must not fork (macOS)
"""
