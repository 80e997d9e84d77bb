"""Two files of one name in different folders are one module to pytest: the second is an error, and only a run that
collects both finds it."""

import re
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.reads("tests/")


def test_each_file_of_tests_has_a_name_of_its_own():
    """launch/test_values.py and simt/test_values.py each passed alone, and the whole suite ended in an error."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, files in names.items() if files > 1] == []


def test_nothing_is_imported_from_a_conftest():
    """There are many of that name, and which one is meant follows from the order of collecting: test_kernel.py was fine
    in a whole run, and no module at all after some others."""
    for path in Path(__file__).parent.rglob("*.py"):
        assert not re.search(r"^\s*(from conftest import|import conftest)", path.read_text(), re.MULTILINE), path
