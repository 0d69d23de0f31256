"""Which way Python imports lead: from the command down to the estimator, never in a circle."""

import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import python_imports as structure

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = structure.read_distributions(ROOT)
# The highest first; what stands beside each other does not know each other.
LAYERS = (
    ["weir_sim.components", "weir_sim.cluster"],
    ["weir_sim.versions", "weir_sim.installed", "weir_sim.objectives"],
    ["weir_sim.controllers", "weir_sim.executables", "weir_sim.child_process"],
    ["weir_cli.main"],
    ["weir_cli.app", "weir_cli.commands", "weir_cli.doctor_command", "weir_cli.report_command"],
    ["weir_cli.components", "weir_cli.console", "weir_cli.options", "weir_cli.reports"],
    ["weir_cli.files", "weir_cli.installation"],
    ["weir_cli.errors"],
)


def listed(imports):
    return "\n".join(map(str, imports))


@pytest.fixture(scope="module")
def modules():
    packages = {str(one.folder.relative_to(ROOT)): one.package for one in DISTRIBUTIONS.values()}
    return structure.find_modules(ROOT, packages)


@pytest.fixture(scope="module")
def imports(modules):
    found = structure.read_imports(modules, ROOT)
    assert len(found) > 500
    return found


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_distribution_imports_only_those_that_it_needs(name, imports):
    """Those of its extras only where they are imported inside a function, directly or by a module of its own that is
    imported only so: they may be absent.
    """
    own = DISTRIBUTIONS[name]
    needed = {DISTRIBUTIONS[other].package for other in structure.closure(DISTRIBUTIONS, name)} | {own.package}
    optional = {DISTRIBUTIONS[other].package for other in own.optional}
    always = {one.imported for one in imports if one.at_module_level}
    wrong = [
        one
        for one in imports
        if one.importer.partition(".")[0] == own.package
        and (imported := one.imported.partition(".")[0]) not in needed
        and (imported not in optional or (one.at_module_level and one.importer in always))
    ]
    assert not wrong, f"{name} needs {sorted(needed)}:\n{listed(wrong)}"


def test_distributions_need_one_another_in_no_circle():
    TopologicalSorter({name: one.needs for name, one in DISTRIBUTIONS.items()}).prepare()
    assert set(DISTRIBUTIONS) >= {"weir-bwe", "weir-cli", "weir-traces", "weir-sim", "weir-eval"}


def test_the_library_and_traces_stand_below_everything():
    assert structure.closure(DISTRIBUTIONS, "weir-bwe") == set()
    assert structure.closure(DISTRIBUTIONS, "weir-cli") == set()
    assert structure.closure(DISTRIBUTIONS, "weir-traces") == {"weir-cli"}


def test_imports_lead_from_higher_layers_to_lower_ones(imports):
    wrong = structure.upward_imports(imports, LAYERS)
    assert not wrong, f"imports lead {' -> '.join('/'.join(layer) for layer in LAYERS)}:\n{listed(wrong)}"


def test_nothing_directly_in_a_package_imports_its_like_in_a_circle(modules, imports):
    packages = [name for name, path in modules.items() if path.name == "__init__.py"]
    cycles = structure.sibling_cycles(imports, packages)
    text = "\n\n".join(listed(cycle) for cycle in cycles)
    assert not cycles, f"in a circle, one import for each step; move what both need below both:\n{text}"


def test_the_weir_command_imports_nothing_that_only_training_needs():
    program = """
import sys, typer
from weir_cli.app import build_app
group = typer.main.get_command(build_app())
for name in group.list_commands(None):
    group.get_command(None, name)
print(*sorted(sys.modules))
"""
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "weir_train.train_command" in loaded
    assert not {"torch", "stable_baselines3", "tensorboard", "sklearn"} & set(loaded)


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
