#include "toolchain/layout.h"

#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>

#include "base/diagnostic.h"

namespace muscope::toolchain {
namespace fs = std::filesystem;
namespace {

constexpr const char* kReinstall = "build or install muscope again: the files that belong beside it are incomplete";

/// The first candidate that exists, made canonical; the first one where none does.
std::string first_existing(std::initializer_list<std::string> candidates) {
  std::error_code error;
  for (const std::string& candidate : candidates) {
    if (fs::exists(candidate, error)) return fs::canonical(candidate, error).string();
  }
  return fs::path(*candidates.begin()).lexically_normal().string();
}

}  // namespace

Layout Layout::of_directory(const std::string& directory) {
  Layout layout;
  // The second form serves programs one folder down: installed ones in bin/, and the test programs of a build tree.
  layout.program = first_existing({directory + "/muscope", directory + "/../muscope"});
  layout.toolkit = first_existing({directory + "/share/muscope/toolkit", directory + "/../share/muscope/toolkit"});
  layout.libraries = first_existing({directory + "/lib/muscope", directory + "/../lib/muscope"});
  layout.toolkit_root = first_existing({directory + "/share/muscope/cuda", directory + "/../share/muscope/cuda"});
  return layout;
}

Layout Layout::of_this_program() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return of_directory(self.parent_path().string());
}

void Layout::require_toolkit() const {
  std::error_code error;
  const std::string header = toolkit + "/muscope/prelude.h";
  if (!fs::exists(header, error))
    fail("D411", fmt::format("muscope's device headers are missing: {}", header), kReinstall);
}

void Layout::require_libraries() const {
  std::error_code error;
  const std::string library = libraries + "/libcudart.so.13";
  if (!fs::exists(library, error))
    fail("D411", fmt::format("muscope's CUDA runtime is missing: {}", library), kReinstall);
}

}  // namespace muscope::toolchain
