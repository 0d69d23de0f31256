"""Links the Python packages into one tree, build/tree, as pyproject.toml maps them: for type checkers and editors."""

import shutil
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Makes the tree anew."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    tree = ROOT / "build/tree"
    shutil.rmtree(tree, ignore_errors=True)
    # The root package is a folder of links, beside which the others stand.
    folders = settings["wheel"]["packages"] | {"weir_papers": "papers/weir_papers"}
    links = {entry.name: entry for entry in (ROOT / folders.pop("weir")).iterdir()}
    links = {f"weir/{name}": entry for name, entry in links.items()} | {name: ROOT / folders[name] for name in folders}
    (tree / "weir").mkdir(parents=True)
    for name, target in links.items():
        if target.exists():
            (tree / name).symlink_to(target)


if __name__ == "__main__":
    main()
