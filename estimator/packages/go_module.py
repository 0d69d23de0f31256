"""The Go module of plugins/pion, as a module proxy has it."""

import json
import zipfile
from pathlib import Path

from common import ONE_FILE, ROOT, WEBASSEMBLY, project_version

# A module has one path in go.mod and in its imports; that of the clone is no address.
CLONE_MODULE = "weir/pion"
# The package that compiles the library, or embeds it as WebAssembly.
NATIVE = Path("internal/native")


def write(folder: Path, module: str) -> None:
    """The files of a module proxy: list, info, mod and zip. Tests, which need the clone, stay there."""
    source, version = ROOT / "plugins/pion", project_version()
    versions = folder / "go" / module / "@v"
    versions.mkdir(parents=True)
    (versions / "list").write_text(f"v{version}\n")
    (versions / f"v{version}.info").write_text(json.dumps({"Version": f"v{version}"}))
    mod = (source / "go.mod").read_text().replace(f"module {CLONE_MODULE}\n", f"module {module}\n")
    (versions / f"v{version}.mod").write_text(mod)
    files = {path.relative_to(source): path.read_text() for path in sorted(source.rglob("*.go"))}
    files = {path: text for path, text in files.items() if not path.name.endswith("_test.go")}
    files = {path: text.replace(f'"{CLONE_MODULE}', f'"{module}') for path, text in files.items()}
    files |= {Path(name): (source / name).read_text() for name in ("go.sum", "README.md", "LICENSE")}
    files |= {NATIVE / name: (source / NATIVE / name).read_text() for name in ONE_FILE}
    files[Path("go.mod")] = mod
    with zipfile.ZipFile(versions / f"v{version}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(f"{module}@v{version}/{path.as_posix()}", text)
        archive.write(source / NATIVE / WEBASSEMBLY, f"{module}@v{version}/{NATIVE / WEBASSEMBLY}")
