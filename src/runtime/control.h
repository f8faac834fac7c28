// The page that one process of a run shares with `muscope run`: stop flag, launch in progress, sums of transfers.
// A file <run dir>/<pid>.<n>.page, mapped by both sides, so what stands here survives any kind of death of the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace muscope::runtime {

inline constexpr std::uint32_t kPageMagic = 0x4750534d;  ///< "MSPG"
inline constexpr std::uint32_t kPageVersion = 1;
inline constexpr std::size_t kTransferSlots = 4096;  ///< the last one collects whatever found no slot of its own
inline constexpr std::size_t kFindingSlots = 256;    ///< findings beyond are not listed
inline constexpr std::size_t kNameBytes = 256;       ///< kernel names are cut to this, NUL included

/// Copies and memsets of one call site. The call site itself stands in the spool.
struct TransferSlot {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> bytes{0};
};

/// Values of ProcessPage::progress_line. `muscope run` draws the line; whoever finds it drawn takes it away: the
/// process itself when the launch ends, so that its next output does not land behind the line.
enum ProgressLine : std::uint32_t { kNoLine, kDrawing, kDrawn };
inline constexpr char kEraseLine[] = "\r\033[K";

/// Shared by value between two processes: fixed layout, lock-free atomics only, all zero when fresh.
struct ProcessPage {
  std::uint32_t magic;
  std::uint32_t version;
  std::int64_t pid;
  volatile std::uint32_t stop;               ///< non-zero: end the launch in progress (exec::EngineOptions::stop)
  std::atomic<std::uint32_t> lost_records;   ///< records that could not be written
  std::atomic<std::int32_t> lost_errno;      ///< why, the first time
  std::atomic<std::uint32_t> begun;          ///< launches begun; more than `finished` while one runs
  std::atomic<std::uint32_t> finished;       ///< launches whose record was handed to the spool
  std::atomic<std::uint32_t> launch_index;   ///< of the launch begun last
  std::atomic<std::uint64_t> begun_at;       ///< CLOCK_MONOTONIC, ns
  std::atomic<std::uint64_t> progress;       ///< blocks of that launch that have finished
  std::atomic<std::uint64_t> progress_of;    ///< blocks of that launch; 0 = not known
  std::atomic<std::uint32_t> progress_line;  ///< kNoLine, kDrawing, kDrawn: the terminal shows a line about that launch
  std::atomic<std::uint32_t> name_sequence;  ///< odd while `name` is being written
  char name[kNameBytes];                     ///< kernel of the launch begun last, NUL-terminated
  std::atomic<std::uint64_t> findings[kFindingSlots];  ///< how often each finding of the spool was seen
  TransferSlot transfers[kTransferSlots];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);

/// One page for the whole run, file <run dir>/run.page, made by `muscope run`. Where it is gone, the run is over.
struct RunPage {
  std::uint32_t magic;
  std::uint32_t version;
  std::atomic<std::uint32_t> stop;            ///< the run is to end: new processes start with their stop flag set
  std::atomic<std::uint32_t> processes;       ///< processes that used the runtime
  std::atomic<std::uint32_t> lost_processes;  ///< of these, processes that could not make a spool
  std::atomic<std::int32_t> lost_errno;       ///< why, the first time
};
inline constexpr const char* kRunPageName = "run.page";

/// The place in <run dir> where `muscope run` answers requests to assemble PTX (base/assembly_message.h). Where it is
/// gone, nobody does.
inline constexpr const char* kAssemblerName = "ptxas.socket";

/// Names of the variables by which `muscope run` speaks to the processes of a run.
inline constexpr const char* kEnvRunDir = "MUSCOPE_RUN_DIR";   ///< where spools and pages go
inline constexpr const char* kEnvGpu = "MUSCOPE_GPU";          ///< as arch::find_gpu takes it; files by absolute path
inline constexpr const char* kEnvThreads = "MUSCOPE_THREADS";  ///< engine workers; 0 or unset: one per core
inline constexpr const char* kEnvMaxSteps =
    "MUSCOPE_MAX_STEPS";                                         ///< warp instructions per launch; 0 or unset: no limit
inline constexpr const char* kEnvDevices = "MUSCOPE_DEVICES";    ///< emulated devices; unset: 1
inline constexpr const char* kEnvKernel = "MUSCOPE_KERNEL";      ///< launches of other kernels run unobserved
inline constexpr const char* kEnvLaunches = "MUSCOPE_LAUNCHES";  ///< "A-B": launches outside run unobserved
inline constexpr const char* kEnvProfileFromStart =
    "MUSCOPE_PROFILE_FROM_START";                        ///< "off": not before cudaProfilerStart
inline constexpr const char* kEnvNvtx = "MUSCOPE_NVTX";  ///< "a,b": launches outside these ranges run unobserved
inline constexpr const char* kEnvCountFrom = "MUSCOPE_COUNT_FROM";  ///< "auto", "ptx", "sass"; unset: auto
inline constexpr const char* kEnvEmit = "MUSCOPE_EMIT";             ///< "ptx,kernels"
inline constexpr const char* kEnvEmitDir = "MUSCOPE_EMIT_DIR";      ///< folder where these go, absolute

}  // namespace muscope::runtime
