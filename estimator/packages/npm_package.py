"""The package for Node and browsers: the library as WebAssembly, and its JavaScript."""

import tarfile
from pathlib import Path

from common import AMALGAMATION, PACKAGES, ROOT, WEBASSEMBLY, project_version, template
from cxx_archive import add_text


def write(folder: Path) -> None:
    """`weir-bwe-VERSION.tgz`, as `npm pack` writes it."""
    with tarfile.open(folder / f"weir-bwe-{project_version()}.tgz", "w:gz") as archive:
        add_text(archive, "package/package.json", template("node/package.json"))
        for file in ("index.js", "index.d.ts", "README.md"):
            archive.add(PACKAGES / "node" / file, f"package/{file}")
        archive.add(AMALGAMATION / WEBASSEMBLY, f"package/{WEBASSEMBLY}")
        archive.add(ROOT / "LICENSE", "package/LICENSE")
