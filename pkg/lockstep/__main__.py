"""``python -m lockstep``: the ``lockstep`` command, for launchers that start a module (torchrun -m lockstep ...)."""

from lockstep.cli import main

raise SystemExit(main())
