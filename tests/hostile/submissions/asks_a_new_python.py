"""It asks another interpreter, in which nothing is shut."""
# points: 0
# told: LibraryAnswer


def amdahl(p, s):
    import subprocess
    import sys

    asked = f"from lockstep.cost.speedup import amdahl; print(amdahl({p!r}, {s!r}))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.splitlines()[-1])
    return float(done.stdout)
