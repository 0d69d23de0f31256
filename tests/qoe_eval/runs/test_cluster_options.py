"""`--address` without Ray, or with a file that other machines lack; `make test-distributed` has the rest."""

from importlib.util import find_spec

import pytest

CONTROLLER = """
class Controller:
    def on_timeout(self, now_ms):
        return 300_000
"""


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_error_names_the_command_that_installs_it(fake_simulator, run_weir, tmp_path):
    status, _, err = run_weir("replay", "catalogue", "--controller", "rule", "--address", "auto", "--out", "out")
    # In a clone, and from wheels.
    named = "make distributed" in err or "pip install ray" in err
    assert (status, named, err.count("\n")) == (3, True, 1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("controller", ["mine.py:Controller", "pilot=rule copilots=weir:mine.onnx fusion=min"])
def test_a_controller_from_a_file_does_not_travel(fake_simulator, run_weir, tmp_path, controller):
    (tmp_path / "mine.py").write_text(CONTROLLER)
    (tmp_path / "mine.onnx").write_bytes(b"model")
    status, _, err = run_weir("replay", "catalogue", "--controller", controller, "--address", "auto")
    assert (status, "runs from a file of this machine; omit it or --address" in err) == (2, True), err
