// The tools of others that muscope can use: nvcc, clang, ptxas, a host compiler. Where they are and which version.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::toolchain {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  auto operator<=>(const Version&) const = default;
  std::string text() const;  ///< "13.0.88"
};

/// The oldest clang whose PTX has what muscope's device headers use (shuffles and votes with PTX 8.5, half types).
inline constexpr int kOldestClang = 19;

struct Tool {
  std::string name;  ///< "nvcc", "clang", "ptxas", "g++", "addr2line"
  std::string path;
  Version version;

  std::string text() const;  ///< "nvcc 13.0.88"
};

/// Where to look. Tests fill it by hand.
struct SearchPlaces {
  std::vector<std::string> path;           ///< the directories of PATH
  std::string cuda_home;                   ///< $CUDA_HOME, else $CUDA_PATH; may be empty
  std::string cuda_prefix = "/usr/local";  ///< holds cuda and cuda-X.Y
  std::string llvm_prefix = "/usr/lib";    ///< holds llvm-NN

  static SearchPlaces from_environment();
};

/// nvcc in $CUDA_HOME/bin, on PATH, then /usr/local/cuda/bin and the newest /usr/local/cuda-X.Y/bin. Our own
/// stand-in (muscope-nvcc under the name nvcc) is passed over.
std::optional<Tool> find_nvcc(const SearchPlaces& places);

/// The newest clang++ of version 19 or later: clang++-NN and clang++ on PATH, and <llvm_prefix>/llvm-NN/bin.
std::optional<Tool> find_clang(const SearchPlaces& places);

/// The newest clang++ that is too old, for the message that says so.
std::optional<Tool> find_old_clang(const SearchPlaces& places);

/// ptxas: beside nvcc, else where nvcc would be looked for.
std::optional<Tool> find_ptxas(const SearchPlaces& places);

/// The linker driver for host programs: g++, c++, else the clang++ found.
std::optional<Tool> find_host_compiler(const SearchPlaces& places);

std::optional<Tool> find_addr2line(const SearchPlaces& places);

/// The command that installs the newest packaged clang ("apt-get install clang-19").
std::string clang_install_command();

/// The first "N.N[.N]" in text at or after `from`; all zero when there is none.
Version version_in(std::string_view text, std::size_t from = 0);

}  // namespace muscope::toolchain
