// Records to bytes and back: the spool of a run. CBOR (RFC 8949), arrays in a fixed order instead of maps.
//
// A spool file is a sequence of frames {u32 length, u32 crc32, payload}, little endian; the payload's first byte is its
// FrameType, the rest one CBOR item. Reading is safe for any bytes: each function gives a record or says what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "views/records.h"

namespace muscope::views {

enum class FrameType : std::uint8_t { kStart = 1, kKernel, kLaunch, kTransferSite, kFinding };

inline constexpr std::uint32_t kSpoolVersion = 8;
inline constexpr std::uint32_t kMaxFrameBytes = 1u << 30;
inline constexpr std::uint32_t kNoSlot = 0xffffffffu;

/// First frame of a spool.
struct ProcessStart {
  std::uint32_t version = kSpoolVersion;
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::uint64_t started_ns = 0;  ///< CLOCK_MONOTONIC at the first CUDA call
  std::vector<std::string> argv;
};

/// A place in host code: `offset` is an ELF address of `module` (not a run-time address), ready for addr2line.
struct CodeAddress {
  std::string module;
  std::uint64_t offset = 0;
  std::string symbol;  ///< nearest exported symbol, mangled; may be empty
  std::uint64_t symbol_offset = 0;
};

/// One call site of copies; counts and bytes stand in the process's page.
struct TransferSite {
  std::uint32_t slot = 0;
  TransferKind kind = TransferKind::kHostToDevice;
  HostMemory host_memory = HostMemory::kPageable;
  bool async = false;
  std::string api;
  CodeAddress caller;
};

/// A finding about API calls; repetitions are counted in the process's page.
struct FindingSite {
  std::uint32_t slot = kNoSlot;  ///< kNoSlot: counted once, in `finding`
  Finding finding;
  CodeAddress at;  ///< host code it is about; may be empty
};

/// The same without memory of its own, for a signal handler: encoding it allocates nothing when `out` has room.
struct FindingView {
  std::uint32_t slot = kNoSlot;
  std::string_view code, text, hint;
  std::uint64_t count = 1;
  std::string_view module, symbol;
  std::uint64_t offset = 0, symbol_offset = 0;
};

/// One CBOR item each, appended to `out`.
void encode(std::string& out, const ProcessStart& value);
void encode(std::string& out, const KernelInfo& value);
void encode(std::string& out, const LaunchRecord& value);
void encode(std::string& out, const TransferSite& value);
void encode(std::string& out, const FindingSite& value);
void encode(std::string& out, const FindingView& value);
void encode(std::string& out, const ProcessRecord& value);

/// Throws Error D733 when `bytes` is not exactly one such item, with enumerators, indexes and sizes in range. Chains of
/// frames are free of cycles in what is returned.
ProcessStart decode_start(std::string_view bytes);
KernelInfo decode_kernel(std::string_view bytes);
LaunchRecord decode_launch(std::string_view bytes);
TransferSite decode_transfer_site(std::string_view bytes);
FindingSite decode_finding(std::string_view bytes);
ProcessRecord decode_process(std::string_view bytes);

/// True when every site and frame that `launch` names exists in `kernel`.
bool fits(const LaunchRecord& launch, const KernelInfo& kernel);

/// CRC-32 of IEEE 802.3.
std::uint32_t crc32(std::string_view bytes);

/// Appends one frame around a CBOR item.
void append_frame(std::string& out, FrameType type, std::string_view item);

/// Starts a frame in `out`, to be followed by the item and end_frame(); saves copying large records. Returns its start.
std::size_t begin_frame(std::string& out, FrameType type);
void end_frame(std::string& out, std::size_t start);

/// What a spool file held. Transfers and findings are not yet in `process`: their counts are elsewhere.
struct Spooled {
  ProcessRecord process;
  std::uint64_t started_ns = 0;
  std::vector<TransferSite> transfers;
  std::vector<FindingSite> findings;
  std::vector<std::string> problems;  ///< damaged or contradictory records, one sentence each; they were left out
};

/// Reads a whole spool file. A torn tail sets process.truncated; never throws.
Spooled read_spool(std::string_view bytes);

}  // namespace muscope::views
