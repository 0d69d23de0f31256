"""The patch for Chromium, on a checkout made from the context of the patch itself."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = ROOT / "webrtc_patch/chromium"


@pytest.fixture(scope="module")
def patch(tmp_path_factory):
    file = tmp_path_factory.mktemp("patch") / "weir.patch"
    subprocess.run([CHROMIUM / "make_patch.sh", file], check=True, capture_output=True)
    return file


def git(folder, *arguments):
    settings = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always"]
    return subprocess.run(["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=False)


def commit(folder):
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "all"]):
        done = git(folder, *command)
        assert done.returncode == 0, done.stderr


def write_context(patch, folder):
    """The files that the patch changes, with the lines that it expects where it expects them."""
    text = patch.read_text(errors="replace")
    for path, hunks in re.findall(r"^--- a/(\S+)\n\+\+\+ \S+\n((?:(?:@@| |\+|-(?!- )).*\n)+)", text, re.MULTILINE):
        lines: list[str] = []
        for start, body in re.findall(r"^@@ -(\d+).*\n((?:[ +-].*\n)+)", hunks, re.MULTILINE):
            lines += [f"// Line {number}." for number in range(len(lines) + 1, int(start))]
            lines += [line[1:] for line in body.splitlines() if line[0] != "+"]
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("\n".join([*lines, "// The end.", ""]))


@pytest.fixture
def checkout(patch, tmp_path):
    """As gclient leaves it: libwebrtc is a repository of its own below Chromium's."""
    src = tmp_path / "src"
    write_context(patch, src)
    webrtc = tmp_path / "webrtc"
    (src / "third_party/webrtc").rename(webrtc)
    commit(webrtc)
    git(src, "init", "--quiet")
    added = git(src, "submodule", "--quiet", "add", str(webrtc), "third_party/webrtc")
    assert added.returncode == 0, added.stderr
    commit(src)
    return src


def test_one_git_apply_puts_all_of_it_into_a_checkout(patch, checkout):
    done = git(checkout, "apply", str(patch))
    assert done.returncode == 0, done.stderr
    webrtc = checkout / "third_party/webrtc"
    assert "GetRembSdp()" in (webrtc / "pc/webrtc_session_description_factory.cc").read_text()
    assert "InstallIfEnabled()" in (checkout / "third_party/webrtc_overrides/environment.cc").read_text()
    weir = checkout / "third_party/weir"
    assert (weir / "estimator/models/weir.onnx").read_bytes() == (ROOT / "estimator/models/weir.onnx").read_bytes()
    for build in weir.rglob("BUILD.gn"):
        for source in re.findall(r'"([a-z0-9_/]+\.(?:cc|h|py))"', build.read_text()):
            assert (build.parent / source).is_file()
    assert (weir / "README.chromium").is_file()
    assert not list(weir.rglob("*.sh"))
    again = git(checkout, "apply", "--check", str(patch))
    assert again.returncode != 0


def test_the_feature_is_off_by_default_and_documented(patch):
    source = (CHROMIUM / "weir_feature.cc").read_text()
    name, state = re.search(r"BASE_FEATURE\(k(\w+), base::(\w+)\)", source).groups()
    assert state == "FEATURE_DISABLED_BY_DEFAULT"
    page = (ROOT / "webrtc_patch/README.md").read_text()
    assert f"--enable-features={name}" in page
    for parameter in re.findall(r'BASE_FEATURE_PARAM\(.*"(\w+)"', source):
        assert f"`{parameter}`" in page


def test_wrong_use():
    done = subprocess.run([CHROMIUM / "make_patch.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage" in done.stderr
    for arguments in ([], ["folder", "newest"], ["folder", "150", "156"]):
        assert subprocess.run([CHROMIUM / "check.sh", *arguments], capture_output=True, check=False).returncode == 2
