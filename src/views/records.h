// What a run leaves behind, in plain data: kernels, launches with their counts, host copies. Written by the child
// process into its spool, read by the parent, which makes a report of it. No rule is applied after this point:
// everything here was counted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/access.h"
#include "views/compiled.h"

namespace muscope::views {

struct LaunchSamples;  // views/samples.h

inline constexpr std::uint32_t kNoFrame = 0xffffffffu;
inline constexpr std::uint32_t kNoPc = 0xffffffffu;

/// KernelInfo::machine_problem where only a ptxas is missing; reports then say what installing it would add.
inline constexpr char kNoPtxas[] = "ptxas was not found";
/// How it begins where the machine code is of another CUDA release's ptxas than the PTX: the release follows.
inline constexpr char kOtherRelease[] = "its PTX was made by CUDA ";

/// A source position, with the call site it was inlined at (index into KernelInfo::frames, or kNoFrame).
struct Frame {
  std::string file;  ///< as the compiler wrote it; empty when the program has no line information
  int line = 0;      ///< source line, or PTX line when file is empty
  int column = 0;
  std::string function;  ///< demangled name of the inlined function; empty in the kernel itself
  std::uint32_t inlined_at = kNoFrame;
};

/// One memory instruction of a kernel.
struct Site {
  std::string text;  ///< PTX: "ld.global.nc.v2.f32"; machine code: "LDG.E.64.CONSTANT R2, [R4.64]"
  int ptx_line = 0;
  std::uint32_t frame = kNoFrame;
  std::uint8_t bytes = 0;    ///< per lane
  std::uint32_t pc = kNoPc;  ///< byte offset of the machine instruction in the kernel's code section; kNoPc: PTX
  LocalUse local_use = LocalUse::kNone;  ///< of machine code's local accesses
};

/// One machine instruction of a kernel, for listings.
struct CodeLine {
  std::uint32_t pc = 0;  ///< byte offset in the kernel's code section
  std::uint32_t frame = kNoFrame;
  std::string text;  ///< "LDG.E R2, [R4.64]"
  bool operator==(const CodeLine&) const = default;
};
inline constexpr std::size_t kLongestListing = 20'000;  ///< instructions; longer code is not listed

/// Kinds of executed instructions, as ncu splits smsp__sass_thread_inst_executed_op_*.
enum class InstructionKind : std::uint8_t {
  kFp16Add,
  kFp16Mul,
  kFp16Fma,
  kFp32Add,
  kFp32Mul,
  kFp32Fma,
  kFp64Add,
  kFp64Mul,
  kFp64Fma,
  kOtherFloat,  ///< min, max, abs, neg, compare, special functions, division
  kInteger,
  kBit,
  kConvert,
  kControl,
  kMemory,
  kCommunicate,
  kMove,
  kOther,
  kFp16FmaMove,  ///< HFMA2 of zeros and a constant: how ptxas sets registers on the half-precision unit
  kFp16AddMove,  ///< HADD2 with a zero: a half converted to single precision, or moved
};
inline constexpr std::size_t kInstructionKinds = 20;

struct KernelInfo {
  std::uint32_t id = 0;  ///< unique in its process
  std::string name;      ///< demangled, with parameters
  std::string mangled;
  std::string module;      ///< which PTX, for messages
  std::string ptx_target;  ///< "sm_90"
  std::uint32_t static_shared = 0;
  std::uint32_t local_bytes = 0;  ///< per thread, the PTX's .local variables
  std::uint32_t param_bytes = 0;
  std::uint32_t registers = 0;   ///< per thread; 0 when not known
  bool calls_driver = false;     ///< its machine code may call the driver's functions: printf, malloc, free, assert
  std::string registers_source;  ///< "cubin sm_90 in the program", "ptxas 13.0.88", "liveness estimate"
  std::string machine_source;    ///< whose machine code was executed, in the same words; empty: the PTX was
  /// Without a source: why not machine code; empty where it was not wanted or this GPU's is not known. With one: why
  /// that code may differ from what the program's own compiler would have made; empty when it does not.
  std::string machine_problem;
  std::uint32_t maxntid[3] = {0, 0, 0};
  std::uint32_t minnctapersm = 0;
  std::vector<Frame> frames;
  std::vector<Site> sites;
  std::vector<CodeLine> listing;  ///< of the machine code that was executed, what can be reached; empty: PTX was
  CompiledFacts compiled;
};

/// Sums over the executions of one site in one space.
struct SiteCounts {
  std::uint32_t site = 0;
  trace::Space space = trace::Space::kGlobal;
  trace::Kind kind = trace::Kind::kLoad;
  bool generic = false;
  std::uint64_t executed = 0;       ///< warp instructions, those with all lanes predicated off included
  std::uint64_t lanes = 0;          ///< active lanes
  std::uint64_t requests = 0;       ///< executions with at least one active lane (textures, surfaces: groups of 4 or 8
                                    ///< lanes; const: distinct words)
  std::uint64_t sectors = 0;        ///< distinct 32-byte sectors per request, summed (global, local, surface)
  std::uint64_t ideal_sectors = 0;  ///< min(sectors, ceil(lanes * bytes / 32)) per request, summed (ncu's definition)
  std::uint64_t lines = 0;          ///< distinct 128-byte lines per request, summed
  std::uint64_t bytes = 0;  ///< lanes * bytes per lane; global loads and stores: what several lanes share counts once
  std::uint64_t wavefronts = 0;        ///< shared
  std::uint64_t ideal_wavefronts = 0;  ///< shared: the least that this width and these lanes can take
  std::uint64_t host_sectors = 0;      ///< sectors of `sectors` that live in host memory
  std::uint64_t distinct_sectors = 0;  ///< global: as `sectors`, but distinct ones for atomics too
  std::uint64_t t_wavefronts = 0;      ///< global: passes of L1's tag stage
  std::uint64_t data_wavefronts = 0;   ///< global loads: passes of L1's data stage
  std::uint64_t sass_ideal_wavefronts =
      0;                              ///< shared: what the bytes of the active lanes fill, at most sass_wavefronts
  std::uint64_t sass_wavefronts = 0;  ///< shared: `wavefronts` as ncu derives them in software
  /// Shared: the least of `sass_wavefronts`; what is beyond are bank conflicts to ncu's software.
  std::uint64_t sass_least_wavefronts = 0;
  // The execution that cost most, for pictures.
  std::uint32_t worst_cost = 0;  ///< its sectors or wavefronts; 0 = no example kept
  std::uint32_t worst_mask = 0;
  std::uint64_t worst_block = 0;
  std::uint32_t worst_warp = 0;
  std::array<std::uint64_t, kGroupLanes> worst_addresses{};
};

/// Executed instructions of one frame: warp and thread level, by kind (thread level).
struct FrameCounts {
  std::uint32_t frame = kNoFrame;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::array<std::uint64_t, kInstructionKinds> by_kind{};
};

enum class LaunchState : std::uint8_t { kFinished, kFaulted, kStopped };

/// Why a launch ended early. Everything needed to say where.
struct FaultRecord {
  std::string code;  ///< diagnostic code, "D601"
  std::string text;  ///< "global load of 4 bytes at 0x... is outside every allocation"
  std::string hint;
  std::uint32_t frame = kNoFrame;
  int ptx_line = 0;
  std::string instruction;  ///< PTX text
  std::array<std::uint32_t, 3> block{};
  std::array<std::uint32_t, 3> thread{};
};

/// Something the engine noticed while a launch ran (repeated ones are counted, not listed).
struct Finding {
  std::string code;
  std::string text;
  std::string hint;
  std::uint32_t frame = kNoFrame;
  int ptx_line = 0;
  std::uint64_t count = 0;
};

struct LaunchRecord {
  std::uint32_t index = 0;   ///< of this process, from 0
  std::uint32_t kernel = 0;  ///< KernelInfo::id
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  /// What the program asked for as shared-memory carve-out (model::LaunchShape): percent, -1 nothing, -2 more L1.
  int carveout_preference = -1;
  std::uint64_t stream = 0;  ///< 0 = default stream
  int device = 0;
  LaunchState state = LaunchState::kFinished;
  FaultRecord fault;                ///< when not kFinished
  std::uint64_t managed_pages = 0;  ///< 4 KiB pages of managed memory this launch was the first to touch after the host
  std::uint64_t driver_calls = 0;   ///< by warps, of functions whose code is the driver's: printf, malloc, free, assert
  double wall_seconds = 0;          ///< emulation time, not GPU time; not part of any output that must be repeatable
  std::vector<SiteCounts> sites;
  std::vector<FrameCounts> frames;
  std::vector<Finding> findings;
  std::shared_ptr<const LaunchSamples> samples;  ///< of the first launches of each kernel; null: none were taken
};

enum class HostMemory : std::uint8_t { kPageable, kPinned, kMapped, kManaged, kDevice, kNone };
enum class TransferKind : std::uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice, kHostToHost, kMemset };

/// Copies and memsets of one kind from one call site, summed.
struct TransferRecord {
  TransferKind kind = TransferKind::kHostToDevice;
  HostMemory host_memory = HostMemory::kPageable;  ///< of the host side; kNone for memset and device to device
  bool async = false;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::string api;     ///< "cudaMemcpy"
  std::string caller;  ///< "suite.cu:120", "main+0x1f3 in ./app" or empty
};

/// One process that used the runtime.
struct ProcessRecord {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::vector<std::string> argv;
  std::vector<KernelInfo> kernels;
  std::vector<LaunchRecord> launches;
  std::vector<TransferRecord> transfers;
  std::vector<Finding> findings;  ///< about API calls
  bool truncated = false;         ///< the spool ended in the middle of a record (the process was killed)
  std::string in_progress;        ///< kernel whose launch had begun but left no record
};

}  // namespace muscope::views
