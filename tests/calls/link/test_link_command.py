"""`weir link`: programs behind the real link, in real time: packets pass it by the clock of the machine."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import pytest
from link import ordinary_user
from link import real_network as network
from processes import processes_with, wait_until

from weir_calls import requirements
from weir_cli.errors import MissingComponent
from weir_sim.executables import find_simulator

real = pytest.mark.skipif(bool(network.missing()), reason=f"the real link {network.missing()}")

WEIR = [sys.executable, "-c", "from weir_cli.main import main; main()"]
UDP_FAR = """
    import json, os, socket, struct, sys, time
    taking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    taking.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS: a busy machine reads late
    taking.bind((os.environ["WEIR_LINK_LOCAL"], 5000))
    offset_ns = time.time_ns() - time.monotonic_ns()
    packets = []
    while not packets or packets[-1][0]:
        data, ancillary, _, sender = taking.recvmsg(2048, 256)
        seconds, nanoseconds = struct.unpack("<qq", ancillary[0][2][:16])
        packets.append((int(data[:20]), seconds * 10**9 + nanoseconds - offset_ns))
    taking.sendto(b"done", sender)
    open(sys.argv[1], "w").write(json.dumps(packets[:-1]))
"""
# 2 Mbps for 2 s, also on a machine that stops the program at times; then 0 as the end, repeated: it may get lost in the
# full queue.
UDP_HERE = """
    import os, socket, time
    sending = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    to = (os.environ["WEIR_LINK_FAR"], 5000)
    began = time.monotonic()
    for number in range(500):
        time.sleep(max(0, began + 0.004 * number - time.monotonic()))
        sending.sendto(b"%020d" % time.monotonic_ns() + bytes(952), to)
    sending.settimeout(0.2)
    for _ in range(20):
        sending.sendto(b"%020d" % 0, to)
        try:
            sending.recv(100)
            break
        except TimeoutError:
            pass
"""
TCP_FAR = """
    import os, socket
    listening = socket.create_server((os.environ["WEIR_LINK_LOCAL"], 5000))
    connection, _ = listening.accept()
    connection.sendall(bytes(250_000))
    connection.close()
"""
TCP_HERE = """
    import os, socket
    connection = socket.create_connection((os.environ["WEIR_LINK_FAR"], 5000))
    count = 0
    while chunk := connection.recv(65536):
        count += len(chunk)
    print(count)
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "one-megabit.csv"
    path.write_text("time_s,rate_bps\n0,1000000\n")
    return path


@pytest.fixture
def script(tmp_path):
    def make(name, text):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        return str(path)

    return make


@real
def test_udp_gets_the_rate_and_the_delay_of_the_path(run_weir, scenario, script, tmp_path):
    far, near, seen = script("udp_far", UDP_FAR), script("udp_here", UDP_HERE), tmp_path / "seen.json"
    status, _, err = run_weir(
        "link", scenario, "--far", f"{sys.executable} {far} {seen}", "--log", tmp_path / "link.jsonl", "--json",
        "--one-way-delay", 40, "--", sys.executable, near,
    )  # fmt: skip
    assert status == 0, err
    packets = json.loads(seen.read_text())
    # IP packets of 1000 bytes at 1 Mbps at most. Where a busy machine stops the sender, the queue is not full.
    assert packets[-1][1] - packets[0][1] >= 0.95 * 8e6 * (len(packets) - 1)
    delays_ms = sorted((arrived - sent) / 1e6 for sent, arrived in packets)
    assert delays_ms[0] > 45
    # One-way delay, and 300 ms of queue.
    assert delays_ms[-1] > 300
    summary = json.loads(err.splitlines()[-1])
    assert summary["forward"]["packets"] >= len(packets)
    assert summary["forward"]["lost_packets"] == pytest.approx(500 - len(packets), abs=10)
    assert summary["forward"]["one_way_delay_ms_p95"] > 300
    assert 0.5 < summary["forward"]["utilisation"] <= 1.01
    assert len((tmp_path / "link.jsonl").read_text().splitlines()) > 20


@real
def test_the_reverse_link_has_a_trace_of_its_own(run_weir, scenario, tmp_path):
    (tmp_path / "slow.csv").write_text("time_s,rate_bps\n0,500000\n10,\n")
    for options, used in (((), None), (("--reverse", "slow.csv"), 0.0)):
        status, _, err = run_weir("link", scenario, *options, "--json", "--", "sleep", "0.5")
        assert (status, json.loads(err)["reverse"]["utilisation"]) == (0, used), err


@real
def test_tcp_downloads_over_the_path(run_weir, scenario, script):
    far, near = script("tcp_far", TCP_FAR), script("tcp_here", TCP_HERE)
    arguments = ["--receive", "--far", f"{sys.executable} {far}", "--", sys.executable, near]
    status, out, err = run_weir("link", scenario, *arguments)
    assert status == 0, err
    assert out == "250000\n"
    assert "from the far end" in err


@real
@pytest.mark.parametrize(("line", "expected"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_status_is_the_command_s(run_weir, scenario, line, expected):
    assert run_weir("link", scenario, "--", "sh", "-c", line)[0] == expected


@real
def test_without_a_command_it_is_the_user_s_shell(run_weir, scenario, tmp_path):
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\necho $WEIR_LINK_LOCAL-$WEIR_LINK_FAR\nexit 3\n")
    shell.chmod(0o755)
    status, out, _ = run_weir("link", scenario, SHELL=str(shell))
    assert (status, out) == (3, "10.211.0.1-10.211.0.2\n")


@real
def test_the_end_of_the_far_command_is_reported(run_weir, scenario):
    status, _, err = run_weir("link", scenario, "--far", "echo no such file >&2; exit 4", "--", "true")
    assert status == 0
    assert "no such file" in err
    assert "the far command has ended with status 4" in err


# The user that a command becomes, and the capabilities that are left of root's.
UNDER_SUDO = """
import os, subprocess
from weir_calls.link.namespaces import CallNamespaces
from weir_calls.link.sudo import become_caller, pass_on_permission
become_caller()
print(os.getresuid(), os.getresgid(), 0 in os.getgroups(), os.environ["HOME"], os.environ["USER"], flush=True)
show = ["grep", "-E", "^Cap(Prm|Eff)", "/proc/self/status"]
own = [line for line in open("/proc/self/status") if line.startswith(("CapPrm", "CapEff"))]
print(*own, sep="", end="", flush=True)
subprocess.run(show)
subprocess.run(show, preexec_fn=pass_on_permission)
with CallNamespaces() as made:
    subprocess.run(made.left.command(["id", "-u"]))
"""
as_nobody = pytest.mark.skipif(bool(ordinary_user.missing()), reason=ordinary_user.missing())


@real
@as_nobody
def test_under_sudo_everything_is_the_user_s():
    done = ordinary_user.run(UNDER_SUDO, sudo=True)
    nobody = ordinary_user.ORDINARY_USER
    user, group = (nobody.pw_uid,) * 3, (nobody.pw_gid,) * 3
    identity, *capabilities, user_of_a_program = done.stdout.splitlines()
    assert identity == f"{user} {group} False {nobody.pw_dir} nobody", done.stderr
    # CAP_SYS_ADMIN is permitted, in force nowhere but where namespaces are made, and no program's.
    admin, none = "0000000000200000", "0000000000000000"
    assert [line.split()[1] for line in capabilities] == [admin, none, none, none, admin, admin]
    assert user_of_a_program == str(nobody.pw_uid)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_sudo_user_that_does_not_exist_is_not_root(run_weir, scenario):
    status, _, err = run_weir("link", scenario, "--", "true", SUDO_UID="4000000000")
    assert (status, "SUDO_UID" in err) == (2, True)


@as_nobody
def test_under_sudo_weir_must_not_be_in_a_folder_of_root_s(tmp_path):
    tmp_path.chmod(0o700)
    code = "from weir_calls.link import sudo; sudo.__file__ = sys.argv[1]; sudo.become_caller()"
    done = ordinary_user.run(code, str(tmp_path / "sudo.py"), sudo=True)
    assert "MissingComponent: the user nobody, who called sudo, cannot read" in done.stderr


@real
@as_nobody
def test_an_ordinary_user_needs_no_root():
    line = "id -u; grep CapPrm /proc/self/status"
    done = ordinary_user.run(ordinary_user.WEIR, "link", "catalogue/steady-1m", "--", "sh", "-c", line)
    assert done.returncode == 0, done.stderr
    user, capabilities = done.stdout.splitlines()
    assert user == str(ordinary_user.ORDINARY_USER.pw_uid)
    assert int(capabilities.split()[1], 16) == 0


WITHOUT_TUN = ["unshare", "--mount", "sh", "-c", 'mount --bind /dev/null /dev/net/tun; exec "$@"', "-"]


@real
@pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/net/tun").exists(), reason="only root can hide /dev/net/tun")
def test_without_tun_devices_packets_pass_all_the_same(scenario, script):
    far, near = script("tcp_far", TCP_FAR), script("tcp_here", TCP_HERE)
    arguments = ["--receive", "--json", "--far", f"{sys.executable} {far}", "--", sys.executable, near]
    done = subprocess.run([*WITHOUT_TUN, *WEIR, "link", str(scenario), *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "250000\n"), done.stderr
    summary = json.loads(done.stderr.splitlines()[-1])
    # Packets of 1448 bytes of data, some of them sent twice.
    assert 250_000 / 1448 < summary["forward"]["packets"] < 1.5 * 250_000 / 1448


@real
@pytest.mark.parametrize("ending", ["terminated", "interrupted", "link killed", "weir killed"])
def test_nothing_stays_behind(scenario, ending, request):
    number = zlib.crc32(ending.encode())
    near_s, far_s = str(number), str(number + 1)
    # With a socket, so that nobody waits for it to listen; what it starts has to end too, also where it has left its
    # session and has namespaces of its own.
    far = f"bash -c 'exec 3<>/dev/udp/$WEIR_LINK_FAR/9; setsid unshare -r -n sleep {far_s} & wait'"
    # A group of its own, as the terminal makes one: Ctrl-C goes to all of it.
    process = subprocess.Popen(
        [*WEIR, "link", str(scenario), "--far", far, "--", "sleep", near_s],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    request.addfinalizer(process.kill)

    def sleeping():
        return [bool(processes_with(f"sleep\0{sleep_s}\0", first=True)) for sleep_s in (near_s, far_s)]

    wait_until(lambda: all(sleeping()), "both commands")
    expected = {"terminated": 143, "interrupted": 130, "link killed": 1, "weir killed": -9}[ending]
    if ending == "terminated":
        process.terminate()
    elif ending == "interrupted":
        os.killpg(process.pid, signal.SIGINT)
    elif ending == "link killed":
        os.kill(child_of(process.pid, processes_with(f"{find_simulator()}\0link\0", first=True)), signal.SIGKILL)
    else:
        process.kill()
    assert process.wait(120) == expected
    if ending != "weir killed":
        assert ("killed by SIGKILL" in process.stderr.read()) == (ending == "link killed")
    wait_until(lambda: not any(sleeping()), "the end of both commands")


def child_of(parent, processes):
    for process in processes:
        if int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]) == parent:
            return process
    raise AssertionError(f"none of {processes} is a child of {parent}")


def test_what_is_missing_is_named_before_anything_starts(run_weir, scenario, monkeypatch):
    def forbidden():
        raise MissingComponent("user and network namespaces cannot be made here ([Errno 1] ...): use sudo")

    monkeypatch.setattr(requirements, "find_link_devices", forbidden)
    monkeypatch.setenv("WEIR_SIM", "/nowhere/weir-sim")
    status, _, err = run_weir("link", scenario, "--", "true")
    assert status == 3
    assert "a link cannot be made here" in err
    assert [word in err for word in ("sudo", "/nowhere/weir-sim")] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["catalogue"], "name one"),
        (["missing.csv"], "missing.csv"),
        (["catalogue/cellular-3m", "--reverse", "missing.down"], "missing.down: no such file"),
        (["catalogue/cellular-3m", "--log", "no/such/folder/log"], "cannot be written"),
        (["catalogue/cellular-3m", "--", "no-such-command"], "no such command"),
    ],
)
def test_wrong_use_is_one_message(run_weir, arguments, message):
    status, _, err = run_weir("link", *arguments)
    assert (status, message in err) == (2, True), err
