"""Compiles weir._core, the library and its Python module as one file. What the package is stands in pyproject.toml."""

from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

setup(ext_modules=[Pybind11Extension("weir._core", ["weir_python.cc"], depends=["weir.h", "weir_model.h"], cxx_std=20)])
