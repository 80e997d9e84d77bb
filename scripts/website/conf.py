"""Sphinx's settings. This file is copied into the site's source, which scripts/website/source.py writes."""

from importlib.util import find_spec
from pathlib import Path

project = "Lockstep"
copyright = "The Lockstep maintainers"
author = "The Lockstep maintainers"
extensions = ["myst_nb"]
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
myst_enable_extensions = ["colon_fence", "dollarmath", "tasklist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "Lockstep"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_show_sourcelink = False
html_copy_source = False
html_use_opensearch = ""
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
mathjax_path = "mathjax/tex-svg-full.js"
html_theme_options = {
    "light_css_variables": {"color-foreground-muted": "#555a66", "color-foreground-secondary": "#4d525c"},
    "dark_css_variables": {"color-foreground-muted": "#a6a9b0", "color-foreground-secondary": "#b4b7bd"},
}


def mathjax() -> Path:
    """The folder of MathJax that a package of PyPI brings: one file of it, complete, which loads nothing more."""
    package = find_spec("sphinx-mathjax-offline")
    assert package
    assert package.submodule_search_locations
    return Path(package.submodule_search_locations[0]) / "static" / "mathjax"


def setup(app):
    to = Path(app.srcdir) / "_static" / "mathjax"
    to.mkdir(parents=True, exist_ok=True)
    (to / "tex-svg-full.js").write_bytes((mathjax() / "tex-svg-full.js").read_bytes())
