"""The archive for C and C++: the one file, CMake's build of it, the recipe of Conan; and a port for vcpkg."""

import io
import shutil
import tarfile
from pathlib import Path

from common import AMALGAMATION, MOCC_HEADER, ONE_FILE, ROOT, project_version, template


def write(folder: Path) -> None:
    """`weir-VERSION.tar.gz`, and `vcpkg/weir/`, an overlay port with that archive in it."""
    name = f"weir-{project_version()}"
    with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
        for file in (*ONE_FILE, MOCC_HEADER):
            archive.add(AMALGAMATION / file, f"{name}/{file}")
        archive.add(ROOT / "LICENSE", f"{name}/LICENSE")
        for file in ("cmake/CMakeLists.txt", "conan/conanfile.py"):
            add_text(archive, f"{name}/{Path(file).name}", template(file))
    port = folder / "vcpkg/weir"
    port.mkdir(parents=True)
    for file in ("vcpkg.json", "portfile.cmake"):
        (port / file).write_text(template(f"vcpkg/{file}"))
    shutil.copy(folder / f"{name}.tar.gz", port)


def add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    """Adds a file with this text."""
    data = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))
