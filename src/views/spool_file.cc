// Frames of a spool file: writing one, reading all.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <unordered_map>

#include "base/check.h"
#include "base/diagnostic.h"
#include "views/records_io.h"

namespace muscope::views {
namespace {

constexpr std::size_t kHeaderBytes = 8;

// CRC-32 as in IEEE 802.3, eight bytes at a time (slicing-by-8: table[k][b] is b followed by k zero bytes).
constexpr std::array<std::array<std::uint32_t, 256>, 8> kCrcTable = [] {
  std::array<std::array<std::uint32_t, 256>, 8> table{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    table[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t b = 0; b < 256; ++b) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
  }
  return table;
}();

std::uint32_t load_u32(const char* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// What the frames seen so far add up to.
class Reader {
 public:
  explicit Reader(Spooled& out) : out_(out) {}

  /// `payload` had the right checksum. Throws Error when it is not a record after all.
  void take(std::string_view payload) {
    const auto type = static_cast<FrameType>(static_cast<unsigned char>(payload.front()));
    const std::string_view item = payload.substr(1);
    switch (type) {
      case FrameType::kStart:
        return take_start(decode_start(item));
      case FrameType::kKernel:
        return take_kernel(decode_kernel(item));
      case FrameType::kLaunch:
        return take_launch(decode_launch(item));
      case FrameType::kTransferSite:
        out_.transfers.push_back(decode_transfer_site(item));
        return;
      case FrameType::kFinding:
        out_.findings.push_back(decode_finding(item));
        return;
    }
    fail("D733", fmt::format("record of unknown type {}", static_cast<int>(type)));
  }

 private:
  void take_start(const ProcessStart& start) {
    if (start.version != kSpoolVersion) {
      fail("D733", fmt::format("spool of version {}, this muscope reads version {}", start.version, kSpoolVersion));
    }
    out_.process.pid = start.pid;
    out_.process.parent = start.parent;
    out_.process.argv = start.argv;
    out_.started_ns = start.started_ns;
  }
  void take_kernel(KernelInfo kernel) {
    if (!kernel_at_.emplace(kernel.id, out_.process.kernels.size()).second) {
      fail("D733", fmt::format("kernel {} is described twice", kernel.id));
    }
    out_.process.kernels.push_back(std::move(kernel));
  }
  void take_launch(LaunchRecord launch) {
    const auto kernel = kernel_at_.find(launch.kernel);
    if (kernel == kernel_at_.end()) fail("D733", fmt::format("launch {} is of an unknown kernel", launch.index));
    if (!fits(launch, out_.process.kernels[kernel->second])) {
      fail("D733", fmt::format("launch {} names sites or frames that its kernel does not have", launch.index));
    }
    out_.process.launches.push_back(std::move(launch));
  }

  Spooled& out_;
  std::unordered_map<std::uint32_t, std::size_t> kernel_at_;
};

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  while (bytes.size() >= 8) {
    const std::uint32_t low = load_u32(bytes.data()) ^ crc;
    const std::uint32_t high = load_u32(bytes.data() + 4);
    crc = kCrcTable[7][low & 0xff] ^ kCrcTable[6][low >> 8 & 0xff] ^ kCrcTable[5][low >> 16 & 0xff] ^
          kCrcTable[4][low >> 24] ^ kCrcTable[3][high & 0xff] ^ kCrcTable[2][high >> 8 & 0xff] ^
          kCrcTable[1][high >> 16 & 0xff] ^ kCrcTable[0][high >> 24];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) crc = crc >> 8 ^ kCrcTable[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

std::size_t begin_frame(std::string& out, FrameType type) {
  const std::size_t start = out.size();
  out.append(kHeaderBytes, '\0');
  out.push_back(static_cast<char>(type));
  return start;
}

void end_frame(std::string& out, std::size_t start) {
  const std::string_view payload = std::string_view(out).substr(start + kHeaderBytes);
  MUSCOPE_CHECK(payload.size() <= kMaxFrameBytes);
  const std::uint32_t header[2] = {static_cast<std::uint32_t>(payload.size()), crc32(payload)};
  static_assert(sizeof header == kHeaderBytes);
  std::memcpy(out.data() + start, header, sizeof header);
}

void append_frame(std::string& out, FrameType type, std::string_view item) {
  const std::size_t start = begin_frame(out, type);
  out.append(item);
  end_frame(out, start);
}

Spooled read_spool(std::string_view bytes) {
  Spooled out;
  Reader reader(out);
  while (!bytes.empty()) {
    if (bytes.size() <= kHeaderBytes) {
      out.process.truncated = true;
      break;
    }
    const std::uint32_t length = load_u32(bytes.data());
    if (length == 0 || length > kMaxFrameBytes || length > bytes.size() - kHeaderBytes) {
      out.process.truncated = true;
      break;
    }
    const std::string_view payload = bytes.substr(kHeaderBytes, length);
    if (crc32(payload) != load_u32(bytes.data() + 4)) {
      out.process.truncated = true;
      break;
    }
    try {
      reader.take(payload);
    } catch (const Error& e) {
      out.problems.push_back(e.diagnostics().front().text);
    }
    bytes.remove_prefix(kHeaderBytes + length);
  }
  return out;
}

}  // namespace muscope::views
