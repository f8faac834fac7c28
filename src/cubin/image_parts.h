// What the two readers of cubins (cubin.cc: resources, code_image.cc: code) share: attributes, section names, the
// target.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cubin/byte_reader.h"
#include "cubin/elf_view.h"
#include "cubin/sm_target.h"

namespace muscope::cubin {

inline constexpr std::uint16_t kMachineCuda = 190;
inline constexpr std::uint8_t kEntryPoint = 0x10;  ///< in st_other: a kernel, not a device function

/// Attributes of .nv.info (whole cubin: payload begins with a symbol index) and .nv.info.<kernel>. The numbers are
/// those of ptxas 11.8 to 13.0, seen on code whose source is known.
enum Attribute : std::uint8_t {
  kMaxThreads = 0x05,
  kParameterBank = 0x0a,
  kExterns = 0x0f,  ///< u32 symbol indices
  kRequiredThreads = 0x10,
  kFrameSize = 0x11,
  kMinStackSize = 0x12,
  kParameter = 0x17,  ///< u32 index, u16 ordinal, u16 offset, u32 whose bits from 18 on are the size
  kParameterSize = 0x19,
  kExits = 0x1c,  ///< u32 pcs
  kMaxStackSize = 0x23,
  kCooperative = 0x28,  ///< u32 pcs
  kRegisterCount = 0x2f,
  kWarpWide = 0x31,          ///< u32 pcs
  kIndirectBranches = 0x34,  ///< {u64 pc, u32 count, count x u32 pcs} ...
  kParameterWide = 0x45,     ///< parameters above 4 KB: u32 index, u16 ordinal, u16 offset, u16 size, u16
  kSystemCalls = 0x46,       ///< u32 pcs
  kBarrierCount = 0x4c,
};

/// Throws Error D207: the cubin is damaged.
[[noreturn]] void corrupt_cubin(const std::string& why);

/// "3" of ".nv.constant3" or ".nv.constant0.kernel", with what follows the number in `rest`; -1 when it is something
/// else.
int constant_bank(std::string_view section, std::string_view& rest);

/// The architecture in the ELF header and in `compat` (.nv.compat; may be empty). sm is 0 when there is none.
SmTarget cubin_target(const ElfView& elf, std::span<const std::uint8_t> compat);

/// Calls visit(attribute, payload) for each record {u8 format, u8 attribute, ...}: formats 1 to 3 keep up to two bytes
/// in the record, format 4 has a u16 length and that many bytes.
template <typename Visit>
void for_each_attribute(std::span<const std::uint8_t> info, Visit visit) {
  std::size_t at = 0;
  while (inside(info.size(), at, 4)) {
    const std::uint8_t format = info[at];
    const std::uint8_t attribute = info[at + 1];
    if (format == 4) {
      const auto length = read_at<std::uint16_t>(info, at + 2);
      if (!inside(info.size(), at + 4, length)) corrupt_cubin("an attribute is cut off");
      visit(attribute, info.subspan(at + 4, length));
      at += 4 + length;
    } else if (format >= 1 && format <= 3) {
      visit(attribute, info.subspan(at + 2, 2));
      at += 4;
    } else {
      return;  // a format of a later toolkit: what follows cannot be told apart
    }
  }
}

}  // namespace muscope::cubin
