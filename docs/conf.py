"""Sphinx: Markdown by MyST, furo for looks; `make docs` builds with warnings as errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import reelscore

project = "reelscore"
author = "The reelscore authors"
copyright = "The reelscore authors, Apache-2.0"
version = release = reelscore.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "generated_pages",
    "gallery",
    "shell_examples",
]
exclude_patterns = ["_build", "generated/extra"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

# Several packages have a `Protocol`; a signature that names one is linked to that of its own page.
suppress_warnings = ["ref.python"]
default_role = "py:obj"  # `score` in a docstring is a link where there is something to link to
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 70

html_theme = "furo"
html_title = f"reelscore {version}"
html_static_path = ["_static"]
html_extra_path = ["generated/extra"]  # the reports of the gallery
html_css_files = ["reelscore.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
