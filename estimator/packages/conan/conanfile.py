"""Conan's recipe of the library as one file; it is in the archive, beside what it builds."""

from conan import ConanFile
from conan.tools.build import stdcpp_library
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class Weir(ConanFile):
    """`weir::c`, with the interface of weir.h."""

    name = "weir"
    version = "@VERSION@"
    license = "BSD-3-Clause"
    description = "Bandwidth estimation for WebRTC, at the receiver or the sender, with a learned policy"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}  # noqa: RUF012
    default_options = {"shared": False}  # noqa: RUF012
    exports_sources = "CMakeLists.txt", "LICENSE", "weir.cc", "weir.h", "weir_mocc.h", "weir_model.h"

    def layout(self) -> None:
        """Folders of the build."""
        cmake_layout(self)

    def generate(self) -> None:
        """The profile's compiler and build type for CMake."""
        CMakeToolchain(self).generate()

    def build(self) -> None:
        """One compilation."""
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self) -> None:
        """The library, its headers and its licence."""
        CMake(self).install()

    def package_info(self) -> None:
        """`find_package(weir)` has the same target as without Conan."""
        self.cpp_info.libs = ["weir"]
        self.cpp_info.set_property("cmake_file_name", "weir")
        self.cpp_info.set_property("cmake_target_name", "weir::c")
        # A program in C does not link the library of C++ by itself.
        self.cpp_info.system_libs = [library for library in [stdcpp_library(self)] if library]
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs += ["pthread", "m"]
