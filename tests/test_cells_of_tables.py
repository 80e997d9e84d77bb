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


def test_decimal_points_of_a_column_stand_below_each_other() -> None:
    """1.25 stood above 100.5 with its point two digits further to the left."""
    table = Table("Times", ("", "ms", "of it"), [("a", "1.25", "10 %"), ("b", "100.5", "5 %"), ("c", "3", "no %")])
    lines = repr(table).splitlines()[2:]
    assert [line[3:9].rstrip() for line in lines] == ["  1.25", "100.5", "  3"]
    assert "\u2007\u20071.25<" in table._repr_html_()
    assert ">10 %<" in table._repr_html_(), "not a column of numbers"


def test_a_dash_stands_in_a_column_of_numbers_and_a_comma_is_no_digit() -> None:
    """One missing bandwidth, and 88.4 stood below 347 at its left edge; 8 was a comma too far left below 1,024."""
    table = Table("GB/s", ("", "GB/s", "atomics"), [("L1", "347", "1,024"), ("L2", "88.4", "8"), ("a core", "–", "32")])
    assert [line[8:13].rstrip() for line in repr(table).splitlines()[2:]] == ["347", " 88.4", "  –"]
    page = table._repr_html_()
    assert "\u200788.4<" in page
    assert "\u2007\u2007–<" in page
    assert "\u2007\u2007\u2007\u20088<" in page, "three digits and the comma"


def test_rows_that_nobody_needs_at_first_are_in_a_fold() -> None:
    """15 rows of 1e-16 stood between a learner and the one row that differed."""
    table = Table("Alike", ("model", "apart"), [("14 others", "1e-16"), ("batch norm", "0.3")], [("MLP", "1e-16")] * 14)
    before, _, after = table._repr_html_().partition("<details>")
    assert before.count("<tr>") == 3
    assert after.count("<tr>") == 15
    assert repr(table).count("MLP") == 14
    assert table.folded()._repr_html_().startswith("<details><summary")
