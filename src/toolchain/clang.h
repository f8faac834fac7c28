// Command lines of the clang path: device code to PTX text, host code with that text inside, and the link. What each
// flag is for is written in toolkit/README.md.
#pragma once

#include <string>
#include <vector>

#include "toolchain/flags.h"
#include "toolchain/layout.h"
#include "toolchain/tools.h"

namespace muscope::toolchain {

/// A clang and what it compiles for.
struct ClangSetup {
  Tool clang;
  Tool host;  ///< compiles .cpp files and links
  Layout layout;
  int architecture = 90;
  char suffix = 0;              ///< 'a' for sm_90a
  int musa_architecture = 310;  ///< __MUSA_ARCH__ of MUSA inputs: 310 has warps of 32 as NVIDIA's GPUs
  bool colour = false;
};

/// The flags that clang's version decides.
struct ClangRow {
  int major;
  const char* ptx_feature;  ///< --cuda-feature=
  const char* sdk_version;  ///< -target-sdk-version=
};

/// The row for a version: the newest that is not newer. Versions below kOldestClang have none: D402.
const ClangRow& clang_row(const Version& version);

/// Device code of `input` to optimised LLVM IR text. `dependency_file` may be empty. The IR then goes through
/// widen_copies (widen_copies.h) and back_end_command.
std::vector<std::string> device_command(const ClangSetup& setup, const Flags& flags, const Input& input,
                                        const std::string& ir, const std::string& dependency_file);

/// LLVM IR text to PTX text.
std::vector<std::string> back_end_command(const ClangSetup& setup, const Flags& flags, const std::string& ir,
                                          const std::string& ptx);

/// Host code of `input` with the PTX inside, to an object. For C++ and C inputs `ptx` is ignored and the host compiler
/// is called. Dependency options of `flags` are left to the caller.
std::vector<std::string> host_command(const ClangSetup& setup, const Flags& flags, const Input& input,
                                      const std::string& ptx, const std::string& object);

/// The same as host_command up to the step: `step` takes the place of -c ("-E", "-M").
std::vector<std::string> preprocess_command(const ClangSetup& setup, const Flags& flags, const Input& input,
                                            const std::vector<std::string>& step);

/// Objects to a program or, with Output::kShared, a shared library. `files` are the objects and libraries in order;
/// flags.link_options follow them.
std::vector<std::string> link_command(const ClangSetup& setup, const Flags& flags,
                                      const std::vector<std::string>& files, const std::string& output);

/// Notes (D409) about options that this path cannot act on.
std::vector<Diagnostic> clang_notes(const Flags& flags);

/// Puts ".maxnreg N" on every kernel of the PTX text that sets no register limit itself: what -maxrregcount asks for.
std::string with_register_limit(const std::string& ptx, int registers);

/// The names of functions and variables that the PTX text expects from another file; empty for complete code. Those
/// that every CUDA program may expect from the driver (vprintf, malloc, ...) do not count.
std::vector<std::string> unresolved_symbols(const std::string& ptx);

}  // namespace muscope::toolchain
