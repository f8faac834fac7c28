// Running the compilers: one step each, with what they print and what went wrong.
#pragma once

#include <string>
#include <vector>

#include "toolchain/clang.h"

namespace muscope::toolchain {

/// Runs compilers one after the other and gathers what they print on stderr.
class Steps {
 public:
  enum class Show {
    kNothing,
    kCommands,      ///< each command goes to stderr first, as nvcc -v prints it
    kCommandsOnly,  ///< and is not run: nvcc --dryrun
  };
  explicit Steps(Show show = Show::kNothing) : show_(show) {}

  /// Runs one compiler or linker to its end and returns what it wrote to stdout. Throws Error: D414 when it does not
  /// start or is killed, else `code` with "<tool> rejected <what>" when it fails, after printing all messages so far.
  std::string run(const std::vector<std::string>& command, const std::string& code, const std::string& what);

  /// Messages of the steps that follow have MUSA's names for CUDA's.
  void speak_musa(bool musa) { musa_ = musa; }

  bool dry() const { return show_ == Show::kCommandsOnly; }
  /// Prints the messages gathered so far to stderr and forgets them.
  void flush();

 private:
  Show show_;
  bool musa_ = false;
  std::string messages_;
};

/// A CUDA, C++ or C file to an object on the clang path. `ptx`: where the device code goes (a new file); `depends`:
/// where its dependency list goes, may be empty; `host_extra`: further words for the host pass (-MD ...). Throws
/// Error D403 or, where the device code needs another file's, D413.
void clang_object(const ClangSetup& setup, const Flags& flags, const Input& input, const std::string& object,
                  const std::string& ptx, const std::string& depends, const std::vector<std::string>& host_extra,
                  Steps& steps);

/// Only the device code, to PTX text in `ptx`.
void clang_ptx(const ClangSetup& setup, const Flags& flags, const Input& input, const std::string& ptx,
               const std::string& depends, Steps& steps);

/// The files named in a make rule ("a.o: a.cu b.h \\ ..."), unescaped.
std::vector<std::string> files_in_rule(const std::string& rule);

/// clang and the host compiler (flags.host_compiler where given), checked; throws Error D401 (no compiler) or D402 (too
/// old).
ClangSetup find_clang_setup(const SearchPlaces& places, const Layout& layout, const Flags& flags);

/// D401: nothing that compiles CUDA is there. Says what to install.
[[noreturn]] void fail_without_compiler(const SearchPlaces& places);

}  // namespace muscope::toolchain
