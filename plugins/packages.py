#!/usr/bin/env python3
"""Writes what each ecosystem installs, from the library's one file.

    plugins/packages.py FOLDER [GO_MODULE]

| below FOLDER | what |
|---|---|
| `weir-VERSION.tar.gz` | `weir.cc`, `weir.h`, `weir_model.h`, the licence |
| `go/` | a Go module proxy with the module of `plugins/pion`, named GO_MODULE (`weir.example/pion`) |
| `weir-webrtc-rs-VERSION.crate` | the crate of `plugins/rust`, where cargo is |
| `sbom.json` | CycloneDX: what is in them, and the modules that those of Go require |
| `SHA256SUMS` | the checksums of all |
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ONE_FILE = ("weir.cc", "weir.h", "weir_model.h")
# A module has one path in go.mod and in its imports; that of the clone is no address.
CLONE_MODULE = "weir/pion"


def write_archive(folder: Path, version: str) -> None:
    """The one file for C and C++."""
    with tarfile.open(folder / f"weir-{version}.tar.gz", "w:gz") as archive:
        for name in ONE_FILE:
            archive.add(ROOT / "build/amalgamation" / name, f"weir-{version}/{name}")
        archive.add(ROOT / "LICENSE", f"weir-{version}/LICENSE")


def write_go_module(folder: Path, version: str, module: str) -> None:
    """The files of a module proxy: list, info, mod and zip. Tests, which need the clone, stay there."""
    source = ROOT / "plugins/pion"
    versions = folder / "go" / module / "@v"
    versions.mkdir(parents=True)
    (versions / "list").write_text(f"v{version}\n")
    (versions / f"v{version}.info").write_text(json.dumps({"Version": f"v{version}"}))
    mod = (source / "go.mod").read_text().replace(f"module {CLONE_MODULE}\n", f"module {module}\n")
    (versions / f"v{version}.mod").write_text(mod)
    files = {path.relative_to(source): path.read_text() for path in sorted(source.rglob("*.go"))}
    files = {path: text for path, text in files.items() if not path.name.endswith("_test.go")}
    files = {path: text.replace(f'"{CLONE_MODULE}', f'"{module}') for path, text in files.items()}
    files |= {Path(name): (source / name).read_text() for name in (*ONE_FILE, "go.sum", "README.md")}
    files |= {Path("go.mod"): mod, Path("LICENSE"): (ROOT / "LICENSE").read_text()}
    with zipfile.ZipFile(versions / f"v{version}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(f"{module}@v{version}/{path.as_posix()}", text)


def write_crate(folder: Path, version: str) -> None:
    """`cargo package` compiles what it has packed."""
    if not shutil.which("cargo"):
        print("packages.py: no crate, since cargo is not here", file=sys.stderr)
        return
    target = ROOT / "build/plugins/rust"
    command = ["cargo", "package", "--quiet", "--allow-dirty", "--target-dir", str(target)]
    subprocess.run(command, cwd=ROOT / "plugins/rust", check=True)
    shutil.copy(target / f"package/weir-webrtc-rs-{version}.crate", folder)


def write_sbom(folder: Path, version: str, module: str) -> None:
    """Each package, and for that of Go what it requires; the others require nothing but a compiler, Rust's aside."""

    def component(name: str, version: str, url: str, **fields: object) -> dict[str, object]:
        return {"type": "library", "name": name, "version": version, "purl": url, "bom-ref": url} | fields

    license = {"licenses": [{"license": {"id": "BSD-3-Clause"}}]}
    go = f"pkg:golang/{module}@v{version}"
    required = re.findall(r"^\t(\S+) (v\S+)", (ROOT / "plugins/pion/go.mod").read_text(), re.MULTILINE)
    manifest = (ROOT / "plugins/rust/Cargo.toml").read_text()
    crates = re.findall(r'^(\S+) = "=?(\d\S*)"', manifest.partition("[dependencies]")[2].partition("[dev-")[0], re.M)
    crate = f"pkg:cargo/weir-webrtc-rs@{version}"
    needs = {
        f"pkg:generic/weir@{version}": [],
        go: [f"pkg:golang/{name}@{number}" for name, number in required],
        crate: [f"pkg:cargo/{name}@{number}" for name, number in crates],
    }
    components = [
        component("weir", version, f"pkg:generic/weir@{version}", **license),
        component(module, f"v{version}", go, **license),
        component("weir-webrtc-rs", version, crate, **license),
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


def main(folder: Path, module: str = "weir.example/pion") -> None:
    """Writes all anew."""
    (version,) = re.findall(r"^project\(weir VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_archive(folder, version)
    write_go_module(folder, version, module)
    write_crate(folder, version)
    write_sbom(folder, version, module)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(Path(sys.argv[1]).resolve(), *sys.argv[2:])
