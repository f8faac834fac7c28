// Programs that nvcc links by default contain the CUDA runtime (libcudart_static.a), and so do NVIDIA's libraries.
// Where its functions have symbols, or lie as in a known release (cubin/static_runtime.h), each can be made to jump to
// ours before the program's first constructor runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Which copy of the runtime the thread called last: 0 for the shared one, else an object with a static one. Each copy
/// has its own last error, as NVIDIA's do. Set by the code that programs' calls come through: the shims and the far
/// jumps of static copies.
extern "C" __attribute__((visibility("default"), tls_model("initial-exec"))) __thread int muscope_runtime_copy;

namespace muscope::runtime {

/// Further objects with a static runtime share copy 0.
inline constexpr int kMostStaticCopies = 31;

/// One function of a static runtime in an ELF file.
struct StaticFunction {
  std::string name;           ///< CUDA's name
  std::uint64_t address = 0;  ///< before the object's load address is added
  std::uint64_t room = 0;     ///< bytes up to the next symbol
};

/// The runtime functions that the file contains; empty when it has no static runtime, or an unknown one. Whatever the
/// bytes hold. `major` becomes the CUDA version that they are of.
std::vector<StaticFunction> static_functions(std::span<const std::uint8_t> file, int& major);

/// Redirects the static runtimes of all objects that are loaded now. Returns how many functions jump to us. Called when
/// the engine is loaded, before other constructors (the library is linked with -z initfirst).
std::size_t redirect_static_runtimes();

}  // namespace muscope::runtime
