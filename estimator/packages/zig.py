"""The compiler for all platforms, of the package ziglang; compiles the library for those that it is not run on.

estimator/packages/zig.py FOLDER      the objects

With ANDROID_NDK_ROOT, the folder of an Android NDK, also for Android, whose C library zig lacks.
"""

import os
import subprocess
import sys
from pathlib import Path

from common import AMALGAMATION

# Platforms that the library is compiled for here, and not run on.
COMPILED = ("aarch64-macos", "x86_64-macos", "x86_64-windows-gnu")
# With the oldest version of Android that Chromium of 2026 runs on.
ANDROID = ("aarch64-linux-android29", "x86_64-linux-android29")
OPTIONS = ("-std=c++20", "-O2", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden")


def compile_cxx(target: str, *arguments: str) -> None:
    """Runs `zig c++` for a target such as aarch64-linux-musl."""
    subprocess.run([sys.executable, "-m", "ziglang", "c++", "-target", target, *arguments], check=True)


def write_webassembly(file: Path) -> None:
    """The library as WebAssembly, whose exports are the functions of the C interface, malloc and free."""
    exports = "-Wl,--export-dynamic,--export=malloc,--export=free"
    source = str(AMALGAMATION / "weir.cc")
    options = ("-mexec-model=reactor", "-msimd128", "-mbulk-memory", "-s")
    file.parent.mkdir(parents=True, exist_ok=True)
    compile_cxx("wasm32-wasi", *OPTIONS, *options, source, "-o", str(file), exports)


def check_platforms(folder: Path) -> None:
    """Compiles the library for platforms that it is not run on."""
    folder.mkdir(parents=True, exist_ok=True)
    for target in COMPILED:
        compile_cxx(target, *OPTIONS, "-c", str(AMALGAMATION / "weir.cc"), "-o", str(folder / f"{target}.o"))
        print(f"zig.py: compiles for {target}")
    if not (ndk := os.environ.get("ANDROID_NDK_ROOT")):
        print("zig.py: ANDROID_NDK_ROOT is not set: not compiled for Android")
        return
    for target in ANDROID:
        compiler = Path(ndk, "toolchains/llvm/prebuilt/linux-x86_64/bin", f"{target}-clang++")
        command = [compiler, *OPTIONS, "-c", AMALGAMATION / "weir.cc", "-o", folder / f"{target}.o"]
        subprocess.run(command, check=True)
        print(f"zig.py: compiles for {target}")


if __name__ == "__main__":
    check_platforms(Path(sys.argv[1]))
