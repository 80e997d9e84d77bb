"""Files that are no traces, or that want to do harm: one sentence each, exit code 2, and no traceback."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lockstep.chrome_traces import json_stream, spans
from lockstep.chrome_traces.spans import recording
from lockstep.cli import main
from lockstep.errors import UsageError

GOOD = {"ph": "X", "name": "f", "ts": 1, "dur": 1, "pid": 1, "tid": 1}


def event(**changed: object) -> str:
    return json.dumps({k: v for k, v in (GOOD | changed).items() if v is not ...})


OURS = {"ranks": 2, "world": "virtual", "cluster": "x", "unequal": []}
ROW = {"rank": 0, "kind": "send", "start": 0.0, "end": 1.0}


def ours(about: object = OURS, **fields: object) -> str:
    return json.dumps({"lockstep": about, "traceEvents": [GOOD | {"args": ROW | fields}]})


BAD = {
    "empty": ("", "it is empty"),
    "no JSON": ("#!/bin/sh", "it begins with neither [ nor {"),
    "another JSON": ('{"weights": [1, 2]}', 'it has no list "traceEvents"'),
    "no list": ('{"traceEvents": {}}', "[ is missing at character 17"),
    "numbers": ("[1, 2]", "event 1 is no object"),
    "no ts": (f"[{event()}, {event(ts=...)}]", "event 2, f, has no ts"),
    "no dur": (f"[{event(dur=...)}]", "event 1, f, has no dur"),
    "negative dur": (f"[{event(dur=-1)}]", "event 1, f, has a negative dur"),
    "ts is text": (f"[{event(ts='1')}]", "has a ts that is no number of microseconds"),
    "ts is true": (f"[{event(ts=True)}]", "has a ts that is no number of microseconds"),
    "ts is NaN": (f"[{event(ts=float('nan'))}]", "NaN is no number of JSON's at character 2"),
    "dur is infinite": (f"[{event(dur=float('inf'))}]", "Infinity is no number of JSON's"),
    "dur overflows": (f"[{event(dur=...)[:-1]}, \"dur\": 1e999}}]", "has a dur that is no number"),
    "the end overflows": (f"[{event(ts=1.7e308, dur=1.7e308)}]", "ts + dur is not finite"),
    "ts beyond a float": (f"[{event(ts=10**400)}]", "has a ts that is no number"),
    "a number without end": (f"[{event()[:-1]}, \"x\": {'9' * 5000}}}]", "a number has too many digits"),
    "a key twice": ('[{"ph": "X", "ts": 1, "ts": 2, "dur": 1}]', "the key 'ts' is there twice"),
    "events twice": ('{"traceEvents": [], "traceEvents": []}', "the key 'traceEvents' is there twice"),
    "no phase": (f"[{event(ph=...)}]", "event 1 has no ph"),
    "a long phase": (f"[{event(ph='XX')}]", "event 1 has no ph"),
    "a name that is a list": (f"[{event(name=[])}]", "has a name that is no text"),
    "a pid that is a list": (f"[{event(pid=[])}]", "has a pid that is neither"),
    "args that are a list": (f"[{event(args=[])}]", "has args that are no object"),
    "cut within an event": (f"[{event()}, {event()[:-9]}", "it is no valid JSON at character"),
    "cut object": (f'{{"traceEvents": [{event()}', "is missing at character"),
    "two documents": ('{"traceEvents": []} {}', "something follows its end"),
    "hex": ('[{"ph": "X", "ts": 0x12}]', "it is no valid JSON"),
    "deep": ("[" * 200_000, "nested too deep"),
    "ours, of no ranks": (ours({}), "what it says of its run is none of ours"),
    "ours, of too many": (ours(OURS | {"ranks": 10**9}), "what it says of its run is none of ours"),
    "ours, another field": (ours(colour="red"), "the colour of an event is none of ours"),
    "ours, another kind": (ours(kind="pray"), "the kind of an event is none of ours"),
    "ours, another rank": (ours(rank=2), "the rank or the times of an event is none of ours"),
    "ours, backwards": (ours(end=-1.0), "the end of an event is none of ours"),
    "ours, unequal": (ours(OURS | {"unequal": [[[0], "height", 2.0]]}), "what it says of its run is none"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    text, told = BAD[name]
    file = tmp_path / "bad.json"
    file.write_text(text)
    assert main(["show", str(file)]) == 2
    out, err = capsys.readouterr()
    assert told in err
    assert len(err.splitlines()) == 1
    assert (out, list(tmp_path.iterdir())) == ("", [file])


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda packed: packed[:-20], "its gzip compression is damaged"),
        (lambda packed: packed[:40] + b"?" * 9 + packed[49:], "its gzip compression is damaged"),
        (lambda packed: b"\xff\xfe" + packed[2:], "it is not text in UTF-8"),
        (lambda packed: gzip.compress(b"\xff[]"), "it is not text in UTF-8"),
    ],
)
def test_damaged_files(tmp_path: Path, damage: Callable[[bytes], bytes], told: str) -> None:
    whole = gzip.compress(f"[{', '.join(event(ts=i) for i in range(99))}]".encode())
    (tmp_path / "bad.gz").write_bytes(damage(whole))
    with pytest.raises(UsageError, match=told):
        recording(tmp_path / "bad.gz")


def test_no_file_and_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        assert main(["show", str(path)]) == 2
        assert capsys.readouterr().err.startswith(f"lockstep: There is no file {path}.")


def test_what_grows_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that is huge when it is no longer compressed, one endless text, spans and threads without number."""
    monkeypatch.setattr(json_stream, "CHUNK", 1000)
    file = tmp_path / "bomb.gz"

    def told(text: str) -> str:
        file.write_bytes(gzip.compress(text.encode()))
        with pytest.raises(UsageError) as caught:
            recording(file)
        return caught.value.message

    with monkeypatch.context() as patch:
        patch.setattr(json_stream, "MOST", 50_000)
        assert "more than 0 GB of text" in told("[" + " " * 60_000)
    with monkeypatch.context() as patch:
        patch.setattr(json_stream, "LONGEST", 50_000)
        assert "no valid JSON at character 2" in told('["' + "x" * 500_000)
    monkeypatch.setattr(spans, "MOST_SPANS", 50)
    assert "more than 50 spans" in told(f"[{', '.join(51 * [event()])}]")
    assert "more than 50 spans" in told(f"[{', '.join(51 * [event(ph='B')])}]")
    with monkeypatch.context() as patch:
        patch.setattr(spans, "MOST_EVENTS", 60)
        assert "more than 60 events" in told(f"[{', '.join(61 * [event(ph='i')])}]")
    monkeypatch.setattr(spans, "MOST_LANES", 20)
    assert "more than 20 threads" in told(f"[{', '.join(event(tid=i) for i in range(21))}]")


def test_every_cut_is_told_or_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a file ends, and however little of it is read at a time."""
    text = json.dumps({"a": [1.5e3, "\u00e9\\"], "traceEvents": [GOOD, GOOD | {"name": "\u2028"}], "b": None})
    for size in (1, 2, 3, 1000):
        monkeypatch.setattr(json_stream, "CHUNK", size)
        (tmp_path / "t.json").write_text(text, encoding="utf-8")
        assert len(recording(tmp_path / "t.json").spans) == 2
    for end in range(len(text)):
        (tmp_path / "t.json").write_text(text[:end], encoding="utf-8")
        with pytest.raises(UsageError):
            recording(tmp_path / "t.json")


def test_names_cannot_command_a_terminal_or_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nasty = "\x1b[2J</pre></script><script>alert(1)</script>\ud800"
    file = tmp_path / "t.json"
    file.write_text(f"[{event(name=nasty, dur=5)}, {event(tid=nasty)}]")
    assert main(["show", str(file)]) == 0
    out, page = capsys.readouterr().out, (tmp_path / "t.html").read_text()
    assert "\x1b" not in out
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert page.count("</script>") == 1


def test_huge_counts_are_numbers_like_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = {"In msg nelems": 10**300, "dtype": "Double"}
    (tmp_path / "t.json").write_text(f"[{event(name='ncclDevKernel_AllReduce_x', cat='kernel', ts=1e300, args=args)}]")
    assert main(["show", str(tmp_path / "t.json")]) == 0
    assert "all_reduce" in capsys.readouterr().out


# VmHWM is the program's own; ru_maxrss begins with what the test's process held before exec.
LARGE = """
import re, sys
from lockstep.chrome_traces.spans import recording
found = recording(sys.argv[1])
print(len(found.spans), int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.mark.slow
def test_200_megabytes_are_read_without_being_held(tmp_path: Path) -> None:
    """All of it as Python's objects takes 1.1 GB; its spans take 150 MB."""
    args = {"External id": 12, "Input Dims": [[64, 64], []], "Input type": ["float", ""], "note": "x" * 150}
    each = event(cat="cpu_op", args=args).encode() + b",\n"
    number = 200_000_000 // len(each)
    with gzip.open(tmp_path / "large.gz", "wb", compresslevel=1) as file:
        file.write(b"[")
        for _ in range(number // 1000):
            file.write(each * 1000)
        file.write(event().encode() + b"]")
    command = [sys.executable, "-c", LARGE, str(tmp_path / "large.gz")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    spans_found, megabytes = map(int, done.stdout.split())
    assert spans_found == number // 1000 * 1000 + 1
    assert megabytes < 500
