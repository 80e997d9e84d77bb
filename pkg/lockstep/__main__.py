"""``python -m lockstep``: the same as ``lockstep``, for launchers that start a module (torchrun -m lockstep ...)."""

from lockstep.cli import main

raise SystemExit(main())
