// Where muscope's own files lie: beside the program in a build tree, under the prefix when installed.
//
//   build tree               installed
//   build/muscope            <prefix>/bin/muscope
//   build/lib/muscope        <prefix>/lib/muscope             libcudart.so.13 and its kin
//   build/share/muscope/toolkit (a link to the source's)
//                            <prefix>/share/muscope/toolkit   device headers for clang
//   build/share/muscope/cuda <prefix>/share/muscope/cuda      the shape of a CUDA toolkit, for build systems
#pragma once

#include <string>

namespace muscope::toolchain {

struct Layout {
  std::string program;       ///< muscope itself
  std::string toolkit;       ///< holds cuda_runtime.h and muscope/prelude.h
  std::string libraries;     ///< holds libcudart.so.13
  std::string toolkit_root;  ///< holds bin/nvcc, include/, lib64/

  /// Of the running program (/proc/self/exe). Paths are absolute; those of missing folders are what they should be.
  static Layout of_this_program();

  /// Of a program in that directory.
  static Layout of_directory(const std::string& directory);

  /// Throws Error D411 naming what is missing.
  void require_toolkit() const;
  void require_libraries() const;
};

}  // namespace muscope::toolchain
