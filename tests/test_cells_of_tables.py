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


def test_a_long_address_may_go_on_in_the_next_line() -> None:
    """It made a table wider than the page, at 1280 pixels, too: what stood at its right edge was cut off."""
    shown = Table("Where", ("source",), [("docs.pytorch.org/docs/stable/distributed.html",), ("Li et al., VLDB 2020",)])
    text = shown._repr_html_()
    assert "docs.<wbr>pytorch.<wbr>org/<wbr>docs/<wbr>stable/<wbr>distributed.<wbr>html" in text
    assert ">Li et al., VLDB 2020<" in text
    named = Table("Where", ("name",), [("CollectiveCommunication.RING",)])._repr_html_()
    assert ">Collective<wbr>Communication.<wbr>RING<" in named
