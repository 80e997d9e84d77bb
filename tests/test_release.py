"""What `make release` would say and run; the environments of its own are tried by whoever makes a release."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RELEASE = runpy.run_path(str(ROOT / "scripts" / "release"))
pytestmark = pytest.mark.reads("scripts/release", "README.md", "CHANGELOG.md", "CITATION.cff")

README = """
## Two minutes

```python
x = 1
run(total, x, ranks=4)
```

Now:

```python
run(ring, x, ranks=3, on="virtual")  # a Deadlock
```

## More

```python
not this
```
"""


def test_the_two_minutes_are_both_programs_and_the_last_may_deadlock() -> None:
    program = RELEASE["two_minutes"](README)
    assert "not this" not in program
    assert program.endswith(
        'try:\n    run(ring, x, ranks=3, on="virtual")  # a Deadlock\nexcept Deadlock as error:\n    print(error)\n'
    )
    compile(RELEASE["two_minutes"]((ROOT / "README.md").read_text()), "README.md", "exec")


def test_a_readme_whose_ring_moved_is_told() -> None:
    with pytest.raises(SystemExit, match="does not call run"):
        RELEASE["two_minutes"](README.replace("run(ring", "y = run(ring"))


@pytest.mark.parametrize(
    ("changelog", "citation", "told"),
    [
        ("## 1.2.0, 2026-12-01\n", "version: 1.2.0\n", []),
        ("## 1.2.0, in the making\n", "version: 1.2.0\n", ["no date"]),
        ("## 1.1.0, 2026-12-01\n", "version: 1.2.0\n", ["no section of 1.2.0"]),
        ("## 1.2.0, 2026-12-01\n", "version: 1.1.0\n", ["another version"]),
    ],
)
def test_what_a_release_lacks_is_told(changelog: str, citation: str, told: list[str]) -> None:
    found = RELEASE["problems"]("1.2.0", changelog, citation)
    assert len(found) == len(told)
    assert all(words in problem for words, problem in zip(told, found, strict=True))


def test_a_command_that_fails_ends_it_with_its_last_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="has failed"):
        RELEASE["said"](["sh", "-c", "echo the reason; exit 3"])
    assert "the reason" in capsys.readouterr().err
