"""The values of a large JSON file, one after another, as strict as JSON is: no NaN, no key twice, nothing left open."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHUNK = 1 << 20  # bytes
LONGEST = 1 << 24  # characters of one value
MOST = 2 << 30  # bytes of a file, when it is no longer compressed
SPACE = re.compile(r"[ \t\n\r]*")
GZIP = b"\x1f\x8b"


class Malformed(ValueError):
    """What is wrong with a file, as the end of a sentence that begins with its name."""


def pieces(file: Path) -> Iterator[str]:
    """The text of ``file``, some of it at a time. Raises Malformed for what is no text, or damaged; OSError."""
    decoder, so_far = codecs.getincrementaldecoder("utf-8")(), 0
    with open(file, "rb") as raw:
        packed = raw.peek(2)[:2] == GZIP
        stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        try:
            while chunk := stream.read(CHUNK):
                so_far += len(chunk)
                if so_far > MOST:
                    raise Malformed(f"it holds more than {MOST >> 30} GB of text")
                yield decoder.decode(chunk)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise Malformed("it is not text in UTF-8, as JSON is") from None
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise Malformed("its gzip compression is damaged, or the file was cut off") from None


class Values:
    """A place in the text of a file, from which the next value is read."""

    def __init__(self, text: Iterator[str]) -> None:
        self._pieces, self._ended = text, False
        self._text, self._at, self._before = "", 0, 0
        self._decoder = json.JSONDecoder(object_pairs_hook=_no_key_twice, parse_constant=_no_constant)

    @property
    def place(self) -> str:
        return f"at character {self._before + self._at + 1:,}"

    def next_sign(self) -> str:
        """The character that comes next, behind any space; "" at the end of the file."""
        while True:
            match = SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def skip(self, sign: str) -> bool:
        """Whether ``sign`` comes next; then it is read."""
        found = self.next_sign() == sign
        self._at += found
        return found

    def need(self, sign: str) -> None:
        if not self.skip(sign):
            ended = "" if self.next_sign() else ", where the file ends"
            raise Malformed(f"{sign} is missing {self.place}{ended}")

    def value(self) -> Any:
        """The value that comes next."""
        self.next_sign()
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
                if end < len(self._text) or not self._more():  # a number may go on in the next piece
                    self._at = end
                    return found
            except json.JSONDecodeError as error:
                too_long = len(self._text) - self._at > LONGEST
                if too_long or not self._more():
                    raise Malformed(f"it is no valid JSON {self.place} ({error.msg})") from None
            except RecursionError:
                raise Malformed(f"values are nested too deep {self.place}") from None
            except Malformed as error:
                raise Malformed(f"{error} {self.place}") from None
            except ValueError:
                raise Malformed(f"a number has too many digits {self.place}") from None

    def _more(self) -> bool:
        """Read on, as much again as is held; False at the end of the file."""
        held = self._text[self._at :]
        self._before, self._at, self._text = self._before + self._at, 0, held
        found, wanted = [held], max(len(held), 1)
        while wanted > 0 and not self._ended:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
            else:
                found.append(piece)
                wanted -= len(piece)
        self._text = "".join(found)
        return len(self._text) > len(held)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Malformed(f"the key {twice[:40]!r} is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise Malformed(f"{name} is no number of JSON's")
