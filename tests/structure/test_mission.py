"""The promises of the project are kept: each with the files that keep it, and the command that shows it.

A promise that is removed on purpose is removed here too, by someone who then has read it.
"""

import re
from pathlib import Path

import pytest
import typer

from weir.cli.app import build_app

ROOT = Path(__file__).parents[2]

# What: the command, then each file with a text that it must have.
PROMISES = {
    "libwebrtc's GCC is replaced at the receiver by a patch": (
        "weir webrtc check",
        ("webrtc_patch/patches/remote-bitrate-estimator-factory.patch", "receive_side_congestion_controller"),
        ("webrtc_patch/adapter/weir_remote_bitrate_estimator.h", "class WeirRemoteBitrateEstimator"),
    ),
    "patched Chromium builds": (
        "make chromium-patch",
        ("webrtc_patch/chromium/make_patch.sh", "third_party/weir"),
        ("webrtc_patch/README.md", "## Chromium"),
    ),
    "ONNX Runtime": (
        "weir model",
        ("estimator/src/onnx/onnxruntime_loader.cc", "OrtGetApiBase"),
        ("docker/onnxruntime.sh", "onnxruntime"),
    ),
    "OpenNetLab's gym": (
        "weir train",
        ("trainer/gym/opennetlab.py", "class"),
        ("traces/formats/opennetlab.py", "def read_opennetlab"),
    ),
    "ns-3": ("make build", ("simulator/cmake/FindNs3.cmake", "ns3"), ("simulator/flows/tcp_host.cc", "ns3::")),
    "stable-baselines3: PPO, TD3, SAC": (
        "weir train",
        ("trainer/learning/ppo.py", "from stable_baselines3 import PPO"),
        ("papers/weir_papers/off_policy/training.py", "from stable_baselines3 import SAC, TD3"),
        ("papers/pyproject.toml", 'sac = "weir_papers.off_policy.configuration:OffPolicyConfiguration"'),
        ("papers/pyproject.toml", 'td3 = "weir_papers.off_policy.configuration:OffPolicyConfiguration"'),
    ),
    "pybind11": ("make build", ("estimator/python/module.cc", "PYBIND11_MODULE")),
    "docker": ("make test-docker", ("docker/Dockerfile", "FROM")),
    "per-trace curriculum": (
        "weir train",
        ("trainer/configuration/training.py", 'Literal["random", "reward", "gap", "adaptive_gap"]'),
        ("trainer/learning/curriculum.py", "class TraceCurriculum"),
    ),
    "multi-objective policy with weights at run time": (
        "weir replay",
        ("trainer/policies/networks.py", "class PreferenceNetwork"),
        ("estimator/include/weir/objective.h", "struct Objective"),
    ),
    "QoE metrics": (
        "weir report",
        ("qoe_eval/measures/table.py", "MEASURES"),
        ("qoe_eval/measures/viewer.py", "def "),
    ),
    "trace-replay reports": ("weir replay", ("qoe_eval/report/replay_page.py", "def ")),
    "browser testbed": ("weir call", ("qoe_eval/call", ""), ("tests/qoe_eval/call", "")),
    "MOCC: landmarks, Algorithm 1": (
        "weir paper mocc",
        ("papers/weir_papers/mocc/landmarks.py", "def sort_by_neighbourhood"),
    ),
    "MOCC: bootstrapping and fast traversing": (
        "weir paper mocc",
        ("papers/weir_papers/mocc/landmarks.py", "class LandmarkSchedule"),
    ),
    "MOCC: adaptation with requirement replay": (
        "weir adapt",
        ("trainer/learning/adaptation.py", "class RequirementReplay"),
        ("papers/weir_papers/mocc/adaptation.py", "def measure_adaptation"),
    ),
    "MOCC: its library calls": (
        "make test-cpp",
        ("estimator/c/weir_mocc.h", "weir_mocc_get_sending_rate_bps"),
        ("estimator/c/weir_mocc.h", "weir_mocc_report_status"),
        ("estimator/c/weir_mocc.h", "weir_mocc_register"),
    ),
    "MOCC: 100 objectives, number of landmarks, DQN (Fig. 6, 16, 19)": (
        "weir paper mocc",
        ("papers/weir_papers/mocc/objectives.py", "def measure_objectives"),
        ("papers/weir_papers/mocc/dqn.py", "def train_dqn"),
        ("papers/weir_papers/mocc/networks.py", "Table 3"),
    ),
    "ReCoCo: reward": ("weir train", ("trainer/gym/rewards.py", "def recoco(")),
    "ReCoCo: orders": (
        "weir paper recoco",
        ("papers/weir_papers/recoco/models.py", "def models_of_all_traces"),
        ("trainer/learning/curriculum.py", "def order_of"),
    ),
    "ReCoCo: QoE": ("weir replay", ("qoe_eval/measures/recoco.py", "def recoco_scores")),
    "ReCoCo: search": ("weir paper recoco", ("papers/weir_papers/recoco/models.py", "def models_of_search")),
    "ReCoCo: models of one trace, tried on all (Table I, Fig. 7)": (
        "weir paper recoco",
        ("papers/weir_papers/recoco/models.py", "def models_of_traces"),
        ("papers/weir_papers/recoco/recoco_report.py", "figure_7"),
    ),
    "Muses: teacher": (
        "weir paper muses",
        ("papers/weir_papers/muses/teaching.py", "def teach"),
        ("papers/weir_papers/muses/teacher.toml", "hidden = 256"),
        ("papers/weir_papers/muses/networks.py", "def muses_scenario"),
        ("papers/weir_papers/imitation/configuration.py", "layers: int"),
    ),
    "Muses: kinds": ("weir paper muses", ("papers/weir_papers/muses/kinds.py", "def decompose")),
    "Muses: trees": ("weir paper muses", ("papers/weir_papers/muses/trees.py", "def fit")),
    "Muses: choice per flow": ("weir paper muses", ("papers/weir_papers/muses/mixture.py", "class Mixture")),
    "Muses: its scenarios with WebRTC": (
        "weir paper muses",
        ("traces/generate/published.py", "def muses_cross_traffic"),
    ),
    "Muses: F1, networks of Table III, sharing (Fig. 1b, 3, 4; Table IV)": (
        "weir paper muses",
        ("papers/weir_papers/muses/imitation.py", "def imitation_scores"),
        ("papers/weir_papers/muses/network_rows.py", "def network_rows"),
        ("papers/weir_papers/muses/flow_rows.py", "def jain_by_flows"),
    ),
    "MVFST-RL: decisions that never block": (
        "make test-cpp",
        ("estimator/include/weir/policy_executor.h", "class PolicyExecutor"),
        ("estimator/src/worker/policy_worker.cc", "No function of an executor waits"),
    ),
    "MVFST-RL: delayed actions": (
        "weir paper mvfst",
        ("papers/weir_papers/mvfst/senders.py", "decision_delay_ms"),
        ("simulator/endpoints/decision_delay.h", "struct DecisionDelay"),
    ),
    "MVFST-RL: log reward, normalized; discrete actions on the rate; those in flight in the state": (
        "weir paper mvfst",
        ("papers/weir_papers/mvfst/senders.py", "def log_reward"),
        ("papers/weir_papers/mvfst/senders.py", "class RewardScale"),
        ("papers/weir_papers/mvfst/senders.py", "class DelayedSpecification"),
        ("papers/weir_papers/mvfst/agent.py", "MULTIPLIERS"),
    ),
    "MVFST-RL: ablations (Fig. 3)": ("weir paper mvfst", ("papers/weir_papers/mvfst/trials.py", "VARIANTS")),
    "MVFST-RL: LSTM": ("weir paper mvfst", ("papers/weir_papers/mvfst/agent.py", "nn.LSTMCell")),
    "MVFST-RL: IMPALA with V-trace": (
        "weir paper mvfst",
        ("papers/weir_papers/mvfst/learner.py", "def impala_loss"),
        ("papers/weir_papers/mvfst/impala/vtrace.py", "def vtrace"),
        ("papers/weir_papers/mvfst/impala/algorithm.py", "class Impala"),
    ),
    "IMPALA on Ray, also on clusters whose machines leave and rejoin": (
        "weir train",
        ("papers/pyproject.toml", 'impala = "weir_papers.mvfst.impala.configuration:ImpalaConfiguration"'),
        ("papers/weir_papers/mvfst/impala/runner_pool.py", "class RunnerPool"),
        ("papers/tests/impala/test_two_nodes.py", "takes_it_back"),
    ),
    "MVFST-RL: Pantheon": ("weir traces list", ("traces/generate/pantheon.py", "def pantheon_scenarios")),
    "PolyCC: pool": ("weir replay", ("estimator/include/weir/pool_controller.h", "class PoolController")),
    "PolyCC: filter": ("weir replay", ("estimator/src/pool/pilot_policy.h", "class TrustMeasure")),
    "PolyCC: fusion": ("weir replay", ("estimator/include/weir/fusion.h", "struct Fusion")),
    "PolyCC: both scenarios": (
        "weir paper polycc",
        ("papers/weir_papers/polycc/demonstrations.py", "def jitter_name"),
        ("papers/weir_papers/polycc/demonstrations.py", "def halved_name"),
    ),
}


def commands():
    """`weir X` of every command, those of papers too, and `make X` of every target."""

    def words(command, name):
        if not hasattr(command, "list_commands"):
            return {name}
        below = {word: command.get_command(None, word) for word in command.list_commands(None)}
        return {found for word, one in below.items() for found in words(one, f"{name} {word}")}

    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return words(typer.main.get_command(build_app()), "weir") | {f"make {target}" for target in targets}


@pytest.mark.parametrize("promise", PROMISES)
def test_the_files_of_a_promise_are_there(promise):
    _, *files = PROMISES[promise]
    for name, text in files:
        path = ROOT / name
        assert path.exists(), f"{promise}: {name} is gone"
        assert path.is_dir() or text in path.read_text(), f"{promise}: {name} has no {text!r}"


def test_every_promise_has_a_command():
    pytest.importorskip("weir_papers")
    lacking = {command for command, *_ in PROMISES.values()} - commands()
    assert not lacking


def test_every_paper_is_repeated():
    papers = pytest.importorskip("weir_papers.repeat")
    names = {path.parent.name for path in (ROOT / "papers/weir_papers").glob("*/claims.py")}
    assert {one.name for one in papers.REPETITIONS} == names == {"mocc", "recoco", "muses", "mvfst", "polycc"}
    for one in papers.REPETITIONS:
        assert all(claim.key.startswith(f"{one.name}/") for claim in one.claims)
        assert len({claim.key for claim in one.claims}) == len(one.claims)
