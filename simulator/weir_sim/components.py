"""The components of this distribution, for `weir doctor`: the simulator, what it is made of, and the library."""

from __future__ import annotations

from collections.abc import Iterator

import weir
from weir_cli.components import Component, debian_version
from weir_cli.errors import MissingComponent
from weir_cli.installation import how_to_get
from weir_sim.executables import find_simulator
from weir_sim.versions import simulator_versions

# Libraries that weir-sim is built from: their Debian packages, and their keys in its versions.
_LIBRARIES = (("ns-3", "libns3-dev", "ns3"), ("libwebrtc", "libtgowt-dev", "libwebrtc"))


def components() -> Iterator[Component]:
    """The simulator with its libraries, and ONNX Runtime."""
    parts: dict[str, str] = {}
    try:
        path = find_simulator()
        parts = simulator_versions(path)
        yield Component("weir-sim", "run", f"{parts.get('weir', '?')}, {path}")
    except MissingComponent as error:
        yield Component("weir-sim", "run", None, str(error))
    for name, package, key in _LIBRARIES:
        inside = parts.get(key)
        found = f"{inside} (in weir-sim)" if inside else debian_version(package)
        yield Component(name, "run", found, f"apt-get install {package}, then {how_to_get('build')}")
    # The Python module and weir-sim each load it; both must find it.
    library = weir.onnxruntime_version() if parts.get("onnxruntime", "present") else None
    yield Component("onnxruntime, C library", "run", library or None, how_to_get("build", "onnxruntime"))
