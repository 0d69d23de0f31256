"""CycloneDX: the packages, and what they require."""

import json
import re
import tomllib
from pathlib import Path

from common import ROOT, project_version


def write(folder: Path, module: str) -> None:
    """Each package, and for that of Go what it requires; the others require nothing but a compiler, Rust's aside."""

    def component(name: str, version: str, url: str, **fields: object) -> dict[str, object]:
        return {"type": "library", "name": name, "version": version, "purl": url, "bom-ref": url} | fields

    version = project_version()
    license = {"licenses": [{"license": {"id": "BSD-3-Clause"}}]}
    go = f"pkg:golang/{module}@v{version}"
    required = re.findall(r"^\t(\S+) (v\S+)", (ROOT / "plugins/pion/go.mod").read_text(), re.MULTILINE)
    manifest = tomllib.loads((ROOT / "plugins/rust/Cargo.toml").read_text())
    # Dependencies of the crate are those of optional features, which it does not require.
    crates = list(manifest["build-dependencies"].items())
    crate = f"pkg:cargo/weir-bwe@{version}"
    needs = {
        f"pkg:generic/weir@{version}": [],
        go: [f"pkg:golang/{name}@{number}" for name, number in required],
        f"pkg:pypi/weir-bwe@{version}": ["pkg:pypi/numpy"],
        f"pkg:npm/weir-bwe@{version}": [],
        crate: [f"pkg:cargo/{name}@{number}" for name, number in crates],
    }
    components = [
        component("weir", version, f"pkg:generic/weir@{version}", **license),
        component(module, f"v{version}", go, **license),
        component("weir-bwe", version, crate, **license),
        component("weir-bwe", version, f"pkg:pypi/weir-bwe@{version}", **license),
        component("weir-bwe", version, f"pkg:npm/weir-bwe@{version}", **license),
        # At least 2.0; pip chooses.
        {"type": "library", "name": "numpy", "purl": "pkg:pypi/numpy", "bom-ref": "pkg:pypi/numpy"},
        *(component(name, number, f"pkg:golang/{name}@{number}") for name, number in required),
        *(component(name, number, f"pkg:cargo/{name}@{number}") for name, number in crates),
    ]
    sbom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": depends} for ref, depends in needs.items()],
    }
    (folder / "sbom.json").write_text(json.dumps(sbom, indent=1) + "\n")
