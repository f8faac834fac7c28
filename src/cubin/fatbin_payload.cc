// Payloads of fat binary entries: decompression.
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <string>

#include "base/diagnostic.h"
#include "cubin/fatbin.h"

namespace muscope::cubin {
namespace {

// Far above what PTX and cubins reach (about 20 to 1), so that a damaged size cannot ask for all memory.
constexpr std::uint64_t kMaxRatio = 4096;
constexpr std::uint64_t kMaxSize = 0x7E000000;  // LZ4_MAX_INPUT_SIZE

[[noreturn]] void damaged(const FatbinEntry& entry, const std::string& why) {
  fail("D206",
       fmt::format("corrupt fat binary: the {} for sm_{} cannot be decompressed: {}",
                   entry.kind == EntryKind::kPtx ? "PTX" : "code", to_string(entry.target), why),
       "rebuild the program; `nvcc --compress-mode none` avoids compression");
}

std::string decompress_zstd(const FatbinEntry& entry) {
  std::string out(entry.size, '\0');
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), entry.stored.data(), entry.stored.size());
  if (ZSTD_isError(got) != 0) damaged(entry, fmt::format("zstd: {}", ZSTD_getErrorName(got)));
  if (got != out.size()) damaged(entry, fmt::format("zstd: {} bytes where {} were promised", got, out.size()));
  return out;
}

// One raw block, without LZ4's frame.
std::string decompress_lz4(const FatbinEntry& entry) {
  std::string out(entry.size, '\0');
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(entry.stored.data()), out.data(),
                                      static_cast<int>(entry.stored.size()), static_cast<int>(out.size()));
  if (got < 0) damaged(entry, "LZ4: malformed block");
  if (static_cast<std::size_t>(got) != out.size())
    damaged(entry, fmt::format("LZ4: {} bytes where {} were promised", got, out.size()));
  return out;
}

std::string raw_payload(const FatbinEntry& entry) {
  switch (entry.compression) {
    case Compression::kNone:
      return std::string(reinterpret_cast<const char*>(entry.stored.data()), entry.stored.size());
    case Compression::kUnknown:
      fail("D209",
           fmt::format("the fat binary is compressed in a way that muscope does not know (flags {:#x})", entry.flags),
           "rebuild the program with `nvcc --compress-mode none`");
    case Compression::kLz4:
    case Compression::kZstd:
      break;
  }
  if (entry.size > kMaxSize || entry.stored.size() > kMaxSize || entry.size / kMaxRatio > entry.stored.size()) {
    damaged(entry, fmt::format("{} bytes are said to become {}", entry.stored.size(), entry.size));
  }
  return entry.compression == Compression::kLz4 ? decompress_lz4(entry) : decompress_zstd(entry);
}

}  // namespace

std::string payload(const FatbinEntry& entry) {
  std::string bytes = raw_payload(entry);
  if (entry.kind == EntryKind::kPtx) bytes.resize(bytes.find_last_not_of('\0') + 1);
  return bytes;
}

}  // namespace muscope::cubin
