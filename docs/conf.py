"""Sphinx: the READMEs and the pages of this folder, and the Python interface from its docstrings; see `make docs`.

The source folder is the repository's root, so that pages link to each other as they do in the repository.
"""

import __future__

from pathlib import Path
from types import ModuleType

from sphinx.pycode import ModuleAnalyzer

import weir

# The docstrings of the compiled module are in its stub. Its annotations may name what stands further down in it.
stub_file = Path(__file__).parents[1] / "estimator/python/weir/_core.pyi"
stub = ModuleType("weir._core")
flags = __future__.annotations.compiler_flag
exec(compile(stub_file.read_text(), stub_file, "exec", flags=flags), vars(stub))
vars(weir).update({name: value for name, value in vars(stub).items() if name in weir.__all__})
constants = ModuleAnalyzer.for_string(stub_file.read_text(), "weir._core").find_attr_docs()

project = "Weir"
release = weir.__version__
html_title = f"Weir {release}"
html_theme = "furo"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/*/*.md", "*/README.md", "*/*/README.md"]
include_patterns += ["papers/weir_papers/*/README.md", "estimator/models/weir.md"]
include_patterns += ["estimator/packages/node/README.md"]
exclude_patterns = ["build", "runs", ".*", "**/__pycache__"]

# Headings of READMEs are the targets of links such as `README.md#installing`.
myst_heading_anchors = 3
default_role = "code"
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 100

# The README has no table of contents of its own.
CONTENTS = """
```{toctree}
:hidden:
:caption: Guides
docs/design
docs/replays
docs/virtual_calls
docs/calls
docs/write_a_custom_controller
docs/your_own_model
docs/send_side
docs/remb
docs/sfus
docs/pools
docs/install
estimator/packages/node/README
docs/python
docs/cpp
examples/README
examples/opennetlab/README
examples/sfu/README
```
```{toctree}
:hidden:
:glob:
:caption: Results
docs/results
estimator/models/weir
docs/decisions/README
docs/decisions/[0-9]*
papers/README
papers/weir_papers/*/README
```
```{toctree}
:hidden:
:caption: Folders
estimator/README
webrtc_patch/README
webrtc_patch/adapter/README
calls/peer/README
logs/event_log/README
programs/README
simulator/README
trainer/README
traces/README
qoe_eval/README
calls/README
logs/README
suites/README
cli/README
plugins/README
plugins/aiortc/README
plugins/browser/README
plugins/gstreamer/README
plugins/livekit/README
plugins/pion/README
plugins/rust/README
```
```{toctree}
:hidden:
:caption: Contribute
CONTRIBUTING
SECURITY
tests/README
docs/README
docker/README
requirements/README
CHANGELOG
```
"""


def add_contents(_app, name: str, source: list[str]) -> None:
    """Appends the table of contents to the first page."""
    if name == root_doc:
        source[0] += CONTENTS


def add_docstring(_app, _kind: str, name: str, _value, _options, lines: list[str]) -> None:
    """Gives `weir`'s constants their docstrings, which only the stub has."""
    if (constant := ("", name.removeprefix("weir."))) in constants:
        lines[:] = constants[constant]


def setup(app) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", add_docstring)
    app.connect("source-read", add_contents)
