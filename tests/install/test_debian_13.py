"""Debian 13, whose libtgowt-dev fits none of its own Abseils; the build itself: RELEASE=trixie make test-install."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

from weir_cli.doctor_command import components

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("version", "said"), [("12", False), ("13", True)])
def test_doctor_says_that_calls_need_debian_12(monkeypatch, version, said):
    release = {"ID": "debian", "VERSION_ID": version, "PRETTY_NAME": f"Debian GNU/Linux {version}"}
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release)
    (found,) = (component.found for component in components() if component.name == "operating system")
    assert ("calls need Debian 12" in found) == said


@pytest.mark.parametrize(("namespace", "fits"), [("debian5", True), ("debian7", False)])
def test_debian_12s_libwebrtc_is_taken_only_where_the_own_does_not_fit(tmp_path, namespace, fits):
    """With an archive and a header of our own, and with a stand-in for what unpacks packages."""
    for name in ("usr/lib", "usr/include/absl/base", "docker"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "usr/lib/libtg_owt.a").write_bytes(b"\0_ZN4absl7debian511string_view\0")
    header = f"#define ABSL_OPTION_INLINE_NAMESPACE_NAME {namespace}\n"
    (tmp_path / "usr/include/absl/base/options.h").write_text(header)
    script = (ROOT / "docker/libtgowt.sh").read_text().replace("/usr/", f"{tmp_path}/usr/")
    (tmp_path / "docker/libtgowt.sh").write_text(script)
    unpack = tmp_path / "docker/debian_packages.sh"
    unpack.write_text(
        "#!/bin/sh\n"
        'folder=$2/usr/lib/cmake/absl; mkdir -p "$folder"; touch "$2/usr/lib/libabsl_strings.so.20220623"\n'
        "printf '%s\\n' 'add_library(absl::strings SHARED IMPORTED)' >\"$folder/abslTargets.cmake\"\n"
        "printf '%s\\n' '  IMPORTED_LOCATION_NONE \"/lib/libabsl_strings.so.20220623.0.0\"' "
        '\'  IMPORTED_SONAME_NONE "libabsl_strings.so.20220623"\' >>"$folder/abslTargets.cmake"\n'
    )
    unpack.chmod(0o755)
    command = ["bash", tmp_path / "docker/libtgowt.sh", tmp_path / "out"]
    subprocess.run(command, check=True, capture_output=True, timeout=60, env=dict(os.environ))
    assert (tmp_path / "out").exists() != fits
    if not fits:
        assert not list((tmp_path / "out").rglob("*.so*"))
        targets = next((tmp_path / "out").rglob("abslTargets.cmake")).read_text()
        assert targets.splitlines() == [
            "add_library(absl::strings STATIC IMPORTED)",
            '  IMPORTED_LOCATION_NONE "/lib/libabsl_strings.a"',
        ]
