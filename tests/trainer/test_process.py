"""A simulator that dies, hangs or talks nonsense is noticed within seconds, with the reason."""

import os
import signal

import numpy as np
import pytest

from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_sim.executables import find_simulator
from weir_train.gym import BottleneckEnv, BottleneckVectorEnv, SimulatorRefusal
from weir_train.gym.process import SimulatorProcess

ACTION = np.zeros(1, dtype=np.float32)


def environment(fake_simulator, scenario, timeout_s=60.0):
    return BottleneckEnv(scenario, simulator=fake_simulator, timeout_s=timeout_s)


def pid_of(env):
    return env._vector._processes[0]._child.pid


FAILURES = {
    "hang": "no answer for 1 s",
    "half": "no answer for 1 s|bytes",
    "exit": "ended with status 7.*out of cheese",
    "killed": "killed by SIGKILL",
    "garbage": "not the protocol's",
}


@pytest.mark.parametrize("name", [name + when for name in FAILURES for when in ("", "-at-reset")] + ["not-a-number"])
def test_failure_is_noticed_and_named(fake_simulator, steady, name):
    reason = FAILURES.get(name.removesuffix("-at-reset"), "not finite")
    env = environment(fake_simulator, steady(name), timeout_s=1.0 if "no answer" in reason else 60.0)
    with pytest.raises(ComponentFailed, match=reason):  # noqa: PT012 - which of the two raises is in the name
        env.reset(seed=1)
        env.step(ACTION)
    # The environment is of use again, however long a new simulator takes to start.
    env._vector._timeout_s = 60.0
    observation, _ = env.reset(seed=1, options={"scenario": steady()})
    assert np.isfinite(observation).all()
    env.close()


def test_one_failure_in_a_vector_raises_and_reset_mends(fake_simulator, steady):
    scenarios = iter([steady(), steady("exit"), steady(), steady(), steady()])
    env = BottleneckVectorEnv(2, lambda seed: next(scenarios), simulator=fake_simulator, timeout_s=60.0)
    env.reset(seed=1)
    with pytest.raises(ComponentFailed, match="ended with status 7"):
        env.step(np.zeros((2, 1), dtype=np.float32))
    with pytest.raises(ComponentFailed, match="reset it first"):
        env.step(np.zeros((2, 1), dtype=np.float32))
    env.reset(seed=1)
    env.step(np.zeros((2, 1), dtype=np.float32))
    env.close()


def test_death_between_steps_is_noticed(fake_simulator, steady):
    env = environment(fake_simulator, steady(), timeout_s=60.0)
    env.reset(seed=1)
    os.kill(pid_of(env), signal.SIGKILL)
    with pytest.raises(ComponentFailed, match="SIGKILL"):
        env.step(ACTION)


def test_refusal_is_an_input_error_and_the_process_lives_on(fake_simulator, steady):
    env = environment(fake_simulator, steady("refused"))
    with pytest.raises(SimulatorRefusal, match="flows: at least one") as raised:
        env.reset(seed=1)
    assert isinstance(raised.value, InputError)
    process = env._vector._processes[0]
    env.reset(seed=1, options={"scenario": steady()})
    assert env._vector._processes[0] is process
    env.close()


def test_step_before_reset(fake_simulator, steady):
    with pytest.raises(ComponentFailed, match="reset it first"):
        environment(fake_simulator, steady()).step(ACTION)


def test_close_leaves_no_child(fake_simulator, steady):
    env = environment(fake_simulator, steady("hang"))
    env.reset(seed=1)
    pid = pid_of(env)
    env.close()
    env.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_dropping_the_environment_leaves_no_child(fake_simulator, steady):
    env = environment(fake_simulator, steady())
    env.reset(seed=1)
    pid = pid_of(env)
    del env
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_forked_copy_neither_ends_nor_holds_the_simulator(fake_simulator, steady):
    env = environment(fake_simulator, steady(), timeout_s=60.0)
    env.reset(seed=1)
    copy = os.fork()
    if copy == 0:
        closed = not env._vector._processes[0].alive
        env.close()
        os._exit(0 if closed else 1)
    _, status = os.waitpid(copy, 0)
    assert status == 0
    env.step(ACTION)
    env.close()


def test_missing_simulator_says_what_to_do(monkeypatch, tmp_path):
    with pytest.raises(MissingComponent, match="make build"):
        find_simulator(tmp_path / "weir-sim")
    monkeypatch.setenv("WEIR_SIM", str(tmp_path / "elsewhere"))
    with pytest.raises(MissingComponent, match="WEIR_SIM"):
        find_simulator()
    monkeypatch.delenv("WEIR_SIM")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(MissingComponent, match="neither beside"):
        find_simulator()


def test_simulator_is_found_beside_python_then_on_path(monkeypatch, tmp_path):
    monkeypatch.delenv("WEIR_SIM", raising=False)
    for folder in ("beside", "path"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "weir-sim").write_text("#!/bin/sh\n")
        (tmp_path / folder / "weir-sim").chmod(0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "beside" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_simulator() == tmp_path / "beside" / "weir-sim"
    (tmp_path / "beside" / "weir-sim").unlink()
    assert find_simulator() == tmp_path / "path" / "weir-sim"


def test_a_program_that_is_no_simulator(tmp_path, steady):
    program = tmp_path / "weir-sim"
    program.write_text("#!/bin/sh\necho 'usage: something else' >&2\nexit 2\n")
    program.chmod(0o755)
    with pytest.raises(ComponentFailed, match=r"ended with status 2.*something else"):
        environment(program, steady()).reset(seed=1)


def test_a_reset_larger_than_a_pipe_arrives(fake_simulator, steady):
    scenario = steady() | {"description": "x" * 1_000_000}
    env = environment(fake_simulator, scenario, timeout_s=60.0)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    env.close()


def test_speaking_unasked_is_a_failure(fake_simulator, steady):
    process = SimulatorProcess(fake_simulator, timeout_s=60.0)
    process.begin_episode({"scenario": steady("refused"), "features": [], "history": 1})
    with pytest.raises(SimulatorRefusal):
        process.greeting()
    process._socket.settimeout(1.0)
    with pytest.raises(ComponentFailed, match="no answer for 1 s"):
        process.greeting()
    assert not process.alive
