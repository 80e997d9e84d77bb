"""Real Horovod, from a cell: built for the installed torch, with processes of ``lockstep.run`` as its ranks.

Taught in unit 07. Read in this order:

    script            six steps (one script, serial and on K ranks)
    negotiation       coordinator; negotiation; cache (of responses)
    timeline          timeline
    elastic_training  elastic; commit
    frameworks        (frameworks, and where their documentation is)
    ranks             (ranks of ``run`` that are ranks of Horovod, and their settings)
    launched          horovodrun
    elastic           (workers that are killed and added)
    elastic_worker    (one of them)
    waits             (a deadlock ends with a report)
    available         (is it installed?)
    installing        (its wheel, compiled for the installed torch, into this environment)
"""
