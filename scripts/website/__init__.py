"""The course as a static site: ``make site`` (docs/site.md).

What goes in, in this order; all of it but the last two needs no Sphinx:

    executed       a lesson with its outputs, run once and kept by content
    lessons        an executed lesson as a page: what waits is folded until the reader asks for it
    exercises      a page for each exercise: its text, its stub and its hints, and not its answer
    gallery        a page for each figure, alive
    api            the public names, from their docstrings
    documents      docs/ and the other pages of the clone
    links          what leads to a file of the clone leads to its page
    figures        the scripts of figures, once for the whole site instead of once an output
    source         writes all of these, and the contents
    conf           Sphinx's settings
    check          the finished site in Chromium: links, console, names, contrast, weight
"""
