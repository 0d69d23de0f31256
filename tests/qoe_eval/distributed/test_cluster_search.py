"""`weir tune --address` over two nodes. For `make test-distributed`."""

import json
import signal

from processes import wait_until
from tiny_search import tiny_search


def steps_of(folder, number):
    """The steps that the log of a trial's training has, line by line."""
    path = folder / "trials" / f"{number:04}" / "progress.json"
    found = (json.loads(line) for line in path.read_text().splitlines()) if path.exists() else ()
    return [line["time/total_timesteps"] for line in found]


def test_a_search_goes_on_without_a_killed_node_and_is_resumed(two_nodes, tmp_path):
    configuration, out = tmp_path / "tiny.toml", tmp_path / "search"
    configuration.write_text(tiny_search(steps=6000, trials=3))
    words = ("tune", configuration, "--address", two_nodes.address, "--out", out)
    search = two_nodes.popen(*words)
    wait_until(lambda: len(steps_of(out, 0)) > 4 and len(steps_of(out, 1)) > 4, "two trials at work", 240.0)
    two_nodes.kill(two_nodes.nodes[1])
    before = [steps_of(out, number) for number in (0, 1)]
    over = search.stderr.readline()
    assert over.startswith("trial ")
    search.send_signal(signal.SIGINT)
    _, err = search.communicate(timeout=120)
    assert search.returncode == 1, err
    assert "of 3 trials; continue with: weir tune" in err

    # Until the cluster has noticed that the node is lost, no command can join it.
    answers = []
    wait_until(lambda: answers.append(two_nodes.run(*words, "--resume")) or answers[-1].returncode != 2, "joined")
    resumed = answers[-1]
    assert resumed.returncode == 0, resumed.stderr
    assert over.split(":")[0] not in resumed.stderr
    assert all(f"trial {number} " in over + err + resumed.stderr for number in range(3))
    for number, steps in enumerate(before):
        # No training begins anew: it goes on from a checkpoint, at most an update before its last line.
        after = steps_of(out, number)
        assert after[: len(steps)] == steps
        assert min(after[len(steps) :], default=steps[-1]) > steps[-1] - 256
    assert f"{out / 'best.toml'}: trial " in resumed.stdout
