// Fat binaries: what nvcc (and clang) put into a program for __cudaRegisterFatBinary, decoded.
//
//   const Fatbin fatbin = decode_registered(wrapper);               // in the running program
//   if (const PtxChoice ptx = choose_ptx(fatbin.entries, 90); ptx.entry) parse(payload(*ptx.entry));
//
// The layout (wrapper, containers, entry headers, flags, compression) was established with nvcc 13.0.88 by building the
// programs of tests/counters/binaries and taking them apart; tests compare with what the build lines say.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "cubin/sm_target.h"

namespace muscope::cubin {

inline constexpr std::uint32_t kWrapperMagic = 0x466243B1;    ///< first word of what __cudaRegisterFatBinary gets
inline constexpr std::uint32_t kContainerMagic = 0xBA55ED50;  ///< first word of a container of entries

using Bytes = std::span<const std::uint8_t>;

enum class EntryKind : std::uint8_t { kPtx, kCubin, kOther };
enum class Compression : std::uint8_t { kNone, kLz4, kZstd, kUnknown };

/// One piece of device code. `stored` points into the bytes or the memory that was decoded, which must outlive it.
struct FatbinEntry {
  EntryKind kind = EntryKind::kOther;
  unsigned raw_kind = 0;  ///< the kind field itself: 1 PTX, 2 cubin, others unknown
  SmTarget target;        ///< sm 0 for raw PTX whose .target could not be read
  int version_major = 0;  ///< PTX: ISA version
  int version_minor = 0;
  bool debug = false;       ///< compiled with -G
  std::string options;      ///< options for ptxas, as nvcc stored them; may be empty
  std::string object_name;  ///< the source's name with -lineinfo or -G; else empty
  Compression compression = Compression::kNone;
  std::uint64_t flags = 0;  ///< the flags field itself
  Bytes stored;             ///< the payload as it lies there: compressed or not
  std::uint64_t size = 0;   ///< bytes after decompression
};

/// What one registration (or one file) holds.
struct Fatbin {
  std::vector<FatbinEntry> entries;
  /// Relocatable device code (nvcc -rdc=true, wrapper version 2): `entries` then hold the linked cubin, and each
  /// element here the entries of one translation unit, whose PTX modules must be linked to get the program's PTX.
  bool relocatable = false;
  std::vector<std::vector<FatbinEntry>> units;
};

/// Decodes what __cudaRegisterFatBinary was given: a wrapper of version 1 or 2, whose data is a container or raw
/// NUL-terminated PTX text (clang's -fcuda-include-gpubinary with a PTX file). Also takes a bare container, a bare
/// cubin and bare PTX text (cuModuleLoadData). Nobody says how long it is but itself: `readable`
/// is asked before bytes are read, and sizes in headers are held against sane limits. Only the container pointed to is
/// read: others that follow belong to other registrations. Throws Error: D206 when it is none of these, its headers
/// contradict each other or it is not all readable.
using Readable = bool (*)(const void* pointer, std::size_t bytes);
Fatbin decode_registered(const void* wrapper, Readable readable);

/// Decodes bytes from a file or a section: any number of containers with padding between them, or a bare cubin, or PTX
/// text. Never reads outside `bytes`, whatever they hold. Throws Error D206.
Fatbin decode_bytes(Bytes bytes);

/// The same, but what can be read is returned and what cannot is added to `problems` (as D206).
Fatbin decode_available(Bytes bytes, std::vector<Diagnostic>& problems);

/// The payload, decompressed; PTX without the NUL bytes at its end. Throws Error: D206 when the compressed data is
/// damaged or does not have the stated size, D209 when the compression is not known.
std::string payload(const FatbinEntry& entry);

/// The PTX to run on a GPU of compute capability `sm` (90 = 9.0).
struct PtxChoice {
  const FatbinEntry* entry = nullptr;  ///< null: there is no PTX at all
  /// No PTX is meant for this GPU (all are for later ones, or for other GPUs' own features): entry is then the oldest.
  bool not_for_target = false;
};

/// The newest PTX that the GPU can take: of those with target <= sm the highest, of equals the 'a' variant before 'f'
/// before plain, then the higher PTX version, then the first. An 'a' variant fits its own sm only, an 'f' variant the
/// same major from its minor on.
PtxChoice choose_ptx(std::span<const FatbinEntry> entries, int sm);

/// The cubin that this GPU would run, the newest target and its 'a' variant preferred; null when there is none: one
/// made for it, or for an earlier minor revision of the same major one ("Binary Compatibility" in the CUDA C++
/// Programming Guide; between Tegra and others there is none). With `like`, only a cubin of that very target counts
/// (the one that belongs to a PTX entry).
const FatbinEntry* choose_cubin(std::span<const FatbinEntry> entries, int sm, const SmTarget* like = nullptr);

/// Whether a GPU of compute capability `sm` runs machine code made for `target`, by the rule of choose_cubin().
bool runs_machine_code(const SmTarget& target, int sm);

/// A short list for messages: "PTX 75, PTX 90a (zstd), SASS 90".
std::string describe(std::span<const FatbinEntry> entries);

}  // namespace muscope::cubin
