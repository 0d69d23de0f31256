#!/usr/bin/env python3
"""Writes what each ecosystem installs, from the library's one file.

    estimator/packages/write.py FOLDER [GO_MODULE]

| below FOLDER | what |
|---|---|
| `weir-VERSION.tar.gz` | C and C++: `weir.cc`, `weir.h`, `weir_mocc.h`, `weir_model.h`, CMake's build, Conan's recipe |
| `vcpkg/weir/` | an overlay port for vcpkg |
| `go/` | a Go module proxy with the module of `plugins/pion`, named GO_MODULE (`weir.example/pion`) |
| `weir-bwe-VERSION.crate` | the crate of `plugins/rust`, where cargo is |
| `python/` | the sdist `weir_bwe-VERSION.tar.gz`; wheels for Linux |
| `weir-bwe-VERSION.tgz` | the package for Node and browsers |
| `sbom.json` | CycloneDX: what is in them, and what they require |
| `SHA256SUMS` | the checksums of all |
"""

import hashlib
import shutil
import sys
from pathlib import Path

import crate
import cxx_archive
import go_module
import npm_package
import python_package
import sbom
import zig
from common import AMALGAMATION, ROOT, WEBASSEMBLY


def main(folder: Path, module: str = "weir.example/pion") -> None:
    """Writes all anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cxx_archive.write(folder)
    python_package.write(folder / "python", ROOT / "build/python_package")
    crate.write(folder)
    zig.write_webassembly(AMALGAMATION / WEBASSEMBLY)
    shutil.copy(AMALGAMATION / WEBASSEMBLY, ROOT / "plugins/pion" / go_module.NATIVE)
    go_module.write(folder, module)
    npm_package.write(folder)
    sbom.write(folder, module)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(Path(sys.argv[1]).resolve(), *sys.argv[2:])
