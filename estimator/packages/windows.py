"""Headers and an import library with which a Python module for Windows is compiled and linked on another system.

Python's headers are the same for all systems but for its configuration, which here is that of CPython for x86-64
Windows.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

PYCONFIG = """\
#define MS_WINDOWS
#define MS_WIN32
#define MS_WIN64
#define NT_THREADS
#define WITH_THREAD
#define Py_ENABLE_SHARED 1
#define HAVE_DECLSPEC_DLL
#define HAVE_DYNAMIC_LOADING
#define HAVE_ERRNO_H 1
#define HAVE_SIGNAL_H 1
#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_FPOS_T 8
#define SIZEOF_OFF_T 4
#define SIZEOF_PID_T 4
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_MAX_ALIGN_T 8
#define ALIGNOF_SIZE_T 8
"""
EXPORTED = re.compile(r"PyAPI_(?:FUNC|DATA)\s*\([^;{]*?\)\s*\**\s*(\w+)")


def write_headers(folder: Path) -> None:
    """This Python's headers for Windows, into a folder that is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("include"), folder)
    (folder / "pyconfig.h").write_text(PYCONFIG)


def write_import_library(headers: Path, folder: Path) -> str:
    """The import library of this version's DLL in `folder`, with all that its headers declare; returns its name."""
    name = f"python{sysconfig.get_config_var('py_version_nodot')}"
    names = {found for header in headers.rglob("*.h") for found in EXPORTED.findall(header.read_text())}
    definition = folder / f"{name}.def"
    definition.write_text(f"LIBRARY {name}.dll\nEXPORTS\n" + "".join(f"  {one}\n" for one in sorted(names)))
    command = [sys.executable, "-m", "ziglang", "dlltool", "-m", "i386:x86-64", "-d", definition]
    subprocess.run([*command, "-l", folder / f"lib{name}.a"], check=True)
    return name
