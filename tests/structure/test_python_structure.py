"""Which way Python imports lead: from `qoe_eval` down to the estimator, never in a circle, through narrow doors."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import python_imports as structure

ROOT = Path(__file__).parents[2]
# The highest first; what stands beside each other does not know each other.
LAYERS = (
    ["weir.cli"],
    ["weir.papers"],
    ["weir.qoe_eval"],
    ["weir.trainer"],
    ["weir.webrtc_patch", "weir.traces"],
    ["weir.cluster"],
    ["weir.executables"],
    ["weir.installation", "weir.console", "weir.objectives", "weir.options"],
    ["weir.files"],
    ["weir.errors"],
    ["weir"],
)
# All that `qoe_eval` may know of `trainer`.
DOORS = {
    "weir.trainer",
    "weir.trainer.gym",
    "weir.trainer.gym.opennetlab",
    "weir.trainer.model.card",
}
MOST_MODULES = 18


def listed(imports):
    return "\n".join(map(str, imports))


@pytest.fixture(scope="module")
def modules():
    return structure.find_modules(ROOT, structure.PACKAGES)


@pytest.fixture(scope="module")
def imports(modules):
    found = structure.read_imports(modules, ROOT)
    assert len(found) > 500
    return found


def test_imports_lead_from_higher_layers_to_lower_ones(imports):
    wrong = structure.upward_imports(imports, LAYERS)
    assert not wrong, f"imports lead {' -> '.join('/'.join(layer) for layer in LAYERS)}:\n{listed(wrong)}"


def test_nothing_directly_in_a_package_imports_its_like_in_a_circle(modules, imports):
    packages = [name for name, path in modules.items() if path.name == "__init__.py"]
    cycles = structure.sibling_cycles(imports, packages)
    text = "\n\n".join(listed(cycle) for cycle in cycles)
    assert not cycles, f"in a circle, one import for each step; move what both need below both:\n{text}"


def test_qoe_eval_knows_no_more_of_trainer_than_what_it_shows(imports):
    wrong = [
        one
        for one in imports
        if structure.is_in(one.importer, "weir.qoe_eval")
        and structure.is_in(one.imported, "weir.trainer")
        and one.imported not in DOORS
    ]
    assert not wrong, f"what others need of weir.trainer is in {', '.join(sorted(DOORS))}:\n{listed(wrong)}"


def test_no_package_has_too_many_modules(modules):
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in modules.values() if path.name != "__init__.py")
    crowded = {name: count for name, count in counts.items() if count > MOST_MODULES}
    assert not crowded, f"more than {MOST_MODULES} modules in a package: divide it by subject: {crowded}"


def test_every_package_is_a_link_in_the_root_package():
    root = ROOT / "estimator/python/weir"
    links = {path.name: path.resolve() for path in root.iterdir() if path.is_symlink()}
    assert links == {folder: ROOT / folder for folder in structure.PACKAGES if "/" not in folder}


def test_what_trainer_shows_is_there():
    import weir.trainer

    assert {name for name in weir.trainer.__all__ if getattr(weir.trainer, name) is None} == set()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = weir.trainer.nothing


def test_the_weir_command_imports_nothing_that_only_training_needs():
    program = """
import sys, typer
from weir.cli.app import build_app
group = typer.main.get_command(build_app())
for name in group.list_commands(None):
    group.get_command(None, name)
print(*sorted(sys.modules))
"""
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"weir.trainer.train", "weir.papers.paper"} <= set(loaded)
    assert not {"torch", "stable_baselines3", "sb3_contrib", "tensorboard", "sklearn"} & set(loaded)


@pytest.fixture
def made_up(tmp_path):
    """Reads made-up modules of a package `weir`, given as paths and texts."""

    def read(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return structure.read_imports(structure.find_modules(tmp_path, {".": "weir"}), tmp_path)

    return read


def test_an_import_that_leads_upwards_or_aside_is_found_wherever_it_stands(made_up):
    found = made_up(
        {
            "low.py": "def late():\n    from weir.high import name\n",
            "beside.py": "import weir.low\n",
            "high.py": "from weir import low\n",
        }
    )
    wrong = structure.upward_imports(found, (["weir.high"], ["weir.low", "weir.beside"]))
    assert sorted(map(str, wrong)) == [
        "beside.py:1: weir.beside imports weir.low",
        "low.py:2: weir.low imports weir.high",
    ]


def test_a_circle_of_packages_is_found_though_no_module_is_in_one(made_up):
    found = made_up(
        {
            "a/one.py": "from weir.b import two\n",
            "a/four.py": "",
            "b/two.py": "",
            "b/three.py": "from weir.a.four import x\n",
            "c.py": "import weir.a.one\n",
        }
    )
    assert structure.sibling_cycles(found, ["weir.a", "weir.b"]) == []
    ((first, second),) = structure.sibling_cycles(found, ["weir"])
    assert {first.imported, second.imported} == {"weir.b.two", "weir.a.four"}


def test_a_module_that_imports_from_what_its_own_package_gathers_is_in_a_circle(made_up):
    found = made_up({"a/__init__.py": "from weir.a.one import x\n", "a/one.py": "from weir.a import y\n"})
    ((first, second),) = structure.sibling_cycles(found, ["weir.a"])
    assert {first.imported, second.imported} == {"weir.a", "weir.a.one"}
