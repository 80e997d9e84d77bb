"""Real Horovod, from a cell: built for the installed torch, its ranks processes of ``lockstep.run``.

Taught in unit 07. Read in this order:

    script            six steps (one script, serial and on K ranks)
    negotiation       coordinator; negotiation
    response_cache    cache (of responses)
    timeline          timeline
    elastic_training  elastic; commit
    frameworks        (frameworks, and where their documentation is)
    ranks             (ranks of ``run`` that are ranks of Horovod)
    launched          horovodrun
    elastic           (workers that are killed and added)
    elastic_worker    (one of them)
    control           (control messages and their bytes)
    waits             (a deadlock ends with a report)
    settings          (Horovod's environment variables)
    available         (is it here?)
    installing        (into this environment)
    build             (its wheel, compiled for the installed torch)
    watching          (how far a build is)
"""
