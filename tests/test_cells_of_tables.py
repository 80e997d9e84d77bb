"""A table in a notebook."""

from __future__ import annotations

import re

from lockstep.tables import Table


def test_a_sentence_goes_on_in_the_next_line_and_a_number_does_not() -> None:
    """A column of reasons in one line each was cut off at the notebook's right edge."""
    reason = "NVLink joins the GPUs of one server. Between servers there is a network."
    shown = Table("Why", ("we count", "why"), [("0.171 s", reason)])._repr_html_()
    styles = {text: style for style, text in re.findall(r'<td style="([^"]*)">([^<]*)</td>', shown)}
    assert "white-space:nowrap" in styles["0.171 s"]
    assert "white-space:normal" in styles[reason]
