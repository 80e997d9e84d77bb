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

What each buys: milliseconds of four (eight) ranks without it, medians of three sessions in turn, two cores, 2026-11.
CPU is that of a run after a rest, the spares for the next one included.

=====================  ===========  =========  ========  ==========
without                first run    at once    rest      CPU
=====================  ===========  =========  ========  ==========
nothing                1967 (1719)  91 (134)   26 (40)   253 (490)
preloaded (all first)  2950 (3394)  104 (167)  24 (41)   274 (600)
preforked              1685 (2044)  76 (158)   69 (125)  126 (249)
gc_freeze              1932 (2751)  80 (145)   22 (42)   908 (2052)
hugepages              1813 (2107)  97 (177)   24 (39)   274 (570)
=====================  ===========  =========  ========  ==========

`lockstep bench launch` has the standard library's fork server beside ours.
"""
