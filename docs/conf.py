"""Sphinx: the READMEs and the pages of this folder, and the Python interface from its docstrings; see `make docs`.

The source folder is the repository's root, so that pages link to each other as they do in the repository.
"""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import weir

# The docstrings of the compiled module are in its stub.
stub_file = Path(__file__).parents[1] / "estimator/python/weir/_core.pyi"
spec = spec_from_loader("weir._core", SourceFileLoader("weir._core", str(stub_file)))
stub = module_from_spec(spec)
spec.loader.exec_module(stub)
vars(weir).update({name: value for name, value in vars(stub).items() if name in weir.__all__})

project = "Weir"
release = weir.__version__
html_title = f"Weir {release}"
html_theme = "furo"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "*/README.md", "*/*/README.md", "trainer/models/*.md"]
exclude_patterns = ["build", ".venv", "tests", "**/__pycache__"]

# Headings of READMEs are the targets of links such as `README.md#installing`.
myst_heading_anchors = 3
# Folders, which are no pages.
nitpick_ignore = [("myst", "examples"), ("myst", "docs")]
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 100

# The README has no table of contents of its own.
CONTENTS = """
```{toctree}
:hidden:
:caption: Use
docs/write_your_own_controller
docs/python
docs/cpp
```
```{toctree}
:hidden:
:caption: Parts
estimator/README
webrtc_patch/README
webrtc_patch/peer/README
trainer/README
trainer/gym/README
trainer/models/weir
traces/README
qoe_eval/README
docker/README
```
```{toctree}
:hidden:
:caption: Work on it
CONTRIBUTING
CHANGELOG
```
"""


def add_contents(_app, name: str, source: list[str]) -> None:
    """Appends the table of contents to the first page."""
    if name == root_doc:
        source[0] += CONTENTS


def setup(app) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
