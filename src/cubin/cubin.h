// Cubins: what ptxas decided about each kernel - registers, shared memory, stack, constants, limits.
//
//   kernels_90.cubin: sm_90, line info no
//     shared_tile   14 registers   4,224 B shared   0 B stack   1 barrier   parameters 16 B at c[0][0x210]
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cubin/sm_target.h"

namespace muscope::cubin {

/// One kernel of a cubin. Figures that the cubin does not state are 0.
struct CubinKernel {
  std::string name;                   ///< mangled
  std::uint32_t registers = 0;        ///< per thread, as `ptxas -v` says
  std::uint32_t static_shared = 0;    ///< bytes declared in the source, as `ptxas -v` says ("smem")
  std::uint32_t reserved_shared = 0;  ///< bytes that ptxas adds to it for the system: 1,024 from sm_90 on
  std::uint32_t frame_bytes = 0;      ///< local memory of the kernel's own frame, bytes per thread
  std::uint32_t stack_bytes = 0;      ///< with everything it calls, as far as known, bytes per thread
  std::uint32_t barriers = 0;         ///< named barriers used, from cubins that state it
  std::uint32_t parameter_bytes = 0;
  std::uint32_t parameter_offset = 0;               ///< where they begin in constant bank 0
  std::uint32_t constant0_bytes = 0;                ///< size of bank 0: system values and parameters
  std::array<std::uint32_t, 3> max_threads{};       ///< __launch_bounds__ / .maxntid; zeros when not given
  std::array<std::uint32_t, 3> required_threads{};  ///< .reqntid; zeros when not given
  std::uint64_t code_bytes = 0;
};

/// Why no GPU could give a block of the kernel what the cubin states, in words; empty: one could. Such numbers come
/// from damaged files. Limits are the largest of all architectures (CUDA C++ Programming Guide, "Technical
/// Specifications"): 255 registers (256 in files, with RZ), 512 KiB of local memory, 228 KiB of shared memory, 16
/// barriers, and 64 KiB of a constant bank.
std::string impossible_resources(const CubinKernel& kernel);

/// A variable of the module, where ptxas placed it.
struct CubinVariable {
  enum class Space : std::uint8_t { kConstant, kGlobal };
  std::string name;
  Space space = Space::kGlobal;
  int bank = 0;              ///< constant bank (3: __constant__)
  std::uint64_t offset = 0;  ///< within its bank or section
  std::uint64_t size = 0;
};

/// A constant bank of the whole module (bank 3: __constant__; bank 4: address tables).
struct CubinConstantBank {
  int bank = 0;
  std::uint64_t size = 0;
};

struct CubinInfo {
  SmTarget target;  ///< variant 'a' when the cubin says so; an 'f' variant cannot be told from plain
  /// The virtual architecture that the source was compiled for (compute_80: 80), as .note.nv.cuinfo says; kernels may
  /// differ by it. 0 when the file does not say.
  int virtual_sm = 0;
  bool relocatable = false;          ///< compiled with -rdc=true and not linked yet
  bool line_info = false;            ///< has source lines (.debug_line with files)
  bool ptx_map = false;              ///< has SASS to PTX lines (ptxas -lineinfo: .nv_debug_line_sass)
  std::vector<CubinKernel> kernels;  ///< in the order of their code sections
  std::vector<CubinVariable> variables;
  std::vector<CubinConstantBank> constant_banks;

  /// Null when there is no such kernel.
  const CubinKernel* kernel(std::string_view name) const;
};

/// Reads a cubin. The bytes may be hostile. Throws Error D207 when they are not a cubin or are damaged.
CubinInfo read_cubin(std::span<const std::uint8_t> bytes);

}  // namespace muscope::cubin
