// The table of relocation types, and applying them. Types and fields: relocation.h.
#include "cubin/relocation.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "cubin/byte_reader.h"
#include "cubin/code_image.h"

namespace muscope::cubin {
namespace {

constexpr std::uint8_t kWord = 16;  // bytes of an instruction
constexpr unsigned kBankFrom = 32;  // of kConstantSlot values: bank << 32 | byte offset

constexpr RelocationForm address(const char* name, std::uint8_t bytes, BitField low, BitField high = {}) {
  return {name, RelocationValue::kAddress, bytes, low, high};
}
constexpr RelocationForm slot(const char* name, BitField offset) {
  return {name, RelocationValue::kConstantSlot, kWord, offset, {.to = 54, .from = kBankFrom, .bits = 5}};
}

/// Byte `type - first` of the value into the same byte of the word.
RelocationForm one_byte(const char* name, std::uint32_t byte) {
  const auto bit = static_cast<std::uint8_t>(8 * byte);
  return address(name, 8, {bit, bit, 8});
}

RelocationForm kernel_name(RelocationForm form, const char* name) {
  form.name = name;
  form.value = RelocationValue::kKernel;
  return form;
}

/// The undefined symbol whose value is the base of a table that muscope does not have: handles are addresses.
constexpr std::string_view kFunctionTable = "__UFT_OFFSET";

void put(std::vector<std::uint8_t>& bytes, std::uint64_t offset, const BitField& field, std::uint64_t value) {
  for (unsigned i = 0; i < field.bits; ++i) {
    const unsigned to = field.to + i;
    const bool bit = ((value >> (field.from + i)) & 1) != 0;
    std::uint8_t& byte = bytes[offset + to / 8];
    const auto mask = static_cast<std::uint8_t>(1u << (to % 8));
    byte = static_cast<std::uint8_t>(bit ? byte | mask : byte & ~mask);
  }
}

/// Whether the fields lose nothing of an address: the low half of a pair and its high half each keep their own bits.
bool fits(const RelocationForm& form, std::uint64_t value) {
  const bool is_half = form.low.from != 0 && form.high.bits == 0 && form.low.from >= 8;
  if (is_half) return true;
  const unsigned end = form.high.bits != 0 ? form.high.from + form.high.bits : form.low.from + form.low.bits;
  const std::string_view name = form.name;
  if (end >= 64 || name.find("_LO") != name.npos || name.find("8_0") != name.npos) return true;
  const std::uint64_t rest = value >> end;
  const bool negative = rest == (~std::uint64_t{0} >> end) && ((value >> (end - 1)) & 1) != 0;
  const std::uint64_t lost = value & ((std::uint64_t{1} << form.low.from) - 1);
  return lost == 0 && (rest == 0 || negative);
}

class Applier {
 public:
  Applier(CodeImage& image, const Placement& placement) : image_(image), placement_(placement) {}

  void apply(const std::string& section, std::vector<std::uint8_t>& bytes, std::vector<Relocation>& relocations) {
    std::vector<Relocation> left;
    for (Relocation& r : relocations) {
      std::string why = apply_one(bytes, r);
      if (why.empty()) continue;
      problems_.push_back({section, r.offset, r.type, r.symbol, std::move(why)});
      left.push_back(std::move(r));
    }
    relocations = std::move(left);
  }

  std::vector<RelocationProblem> take_problems() { return std::move(problems_); }

 private:
  std::string apply_one(std::vector<std::uint8_t>& bytes, const Relocation& r) const {
    const RelocationForm form = relocation_form(r.type);
    if (form.value == RelocationValue::kUnknown) return fmt::format("relocation type {} is not known", r.type);
    if (form.value == RelocationValue::kNothing) return {};
    if (!inside(bytes.size(), r.offset, form.bytes)) return "it lies outside its section";
    const auto added = static_cast<std::uint64_t>(r.addend);
    std::uint64_t value = 0;
    if (form.value == RelocationValue::kKernel) {
      const auto handle = placement_.kernel ? placement_.kernel(r.symbol) : std::nullopt;
      if (!handle)
        return fmt::format("it uses the address of the kernel '{}', as launches from the device do", r.symbol);
      value = *handle + added;
      if (!fits(form, value)) return fmt::format("the address {:#x} of '{}' does not fit", value, r.symbol);
    } else if (form.value == RelocationValue::kConstantSlot) {
      const ConstantData* bank = at(image_.constants, r);
      if (r.place != SymbolPlace::kConstant || bank == nullptr) return "its symbol is not in a constant bank";
      const std::uint64_t offset = r.value + added;
      if (offset + 0x10000 >= 0x20000) return fmt::format("the offset {:#x} is too large", offset);
      value = (std::uint64_t{static_cast<unsigned>(bank->bank)} << kBankFrom) | (offset & 0xffffffff);
    } else {
      std::string why;
      const std::optional<std::uint64_t> found = symbol_value(r, form, why);
      if (!found) return why;
      value = *found + added;
      if (!fits(form, value)) return fmt::format("the address {:#x} of '{}' does not fit", value, r.symbol);
    }
    put(bytes, r.offset, form.low, value);
    put(bytes, r.offset, form.high, value);
    return {};
  }

  template <typename T>
  static const T* at(const std::vector<T>& all, const Relocation& r) {
    return r.section >= 0 && static_cast<std::size_t>(r.section) < all.size()
               ? &all[static_cast<std::size_t>(r.section)]
               : nullptr;
  }

  std::optional<std::uint64_t> symbol_value(const Relocation& r, const RelocationForm& form, std::string& why) const {
    constexpr unsigned kAddressBits = 32;  // shorter fields hold offsets in a bank, not addresses
    if (r.place == SymbolPlace::kCode) {
      if (const std::uint64_t* base = at(placement_.sections, r)) return *base + r.value;
      why = "its code section has no address";
      return std::nullopt;
    }
    if (r.place == SymbolPlace::kShared) {
      if (!image_.relocatable) return r.value;
      why = "shared memory has no layout before the code is linked";
      return std::nullopt;
    }
    if (r.place == SymbolPlace::kConstant && form.high.bits == 0 && form.low.bits < kAddressBits) return r.value;
    if (r.place == SymbolPlace::kUndefined && r.symbol == kFunctionTable) return 0;
    if (placement_.address) {
      if (const auto found = placement_.address(r.symbol)) return found;
    }
    if (r.place == SymbolPlace::kData) {
      if (const std::uint64_t* base = at(placement_.data, r)) return *base + r.value;
    }
    why = fmt::format("no address for '{}'", r.symbol);
    return std::nullopt;
  }

  CodeImage& image_;
  const Placement& placement_;
  std::vector<RelocationProblem> problems_;
};

}  // namespace

RelocationForm relocation_form(std::uint32_t type) {
  using enum RelocationValue;
  constexpr std::uint32_t kByte = 0x4c, kGenericByte = 0x54, kKernelByte = 0x5c, kHandleByte = 0x68;
  if (type >= kByte && type < kByte + 8) return one_byte("8_0", type - kByte);
  if (type >= kGenericByte && type < kGenericByte + 8) return one_byte("G8_0", type - kGenericByte);
  if (type >= kKernelByte && type < kKernelByte + 8)
    return kernel_name(one_byte("", type - kKernelByte), "FUNC_DESC_8_0");
  if (type >= kHandleByte && type < kHandleByte + 8) return one_byte("UNIFIED_8_0", type - kHandleByte);
  switch (type) {
    case 0x00:
      return {"NONE", kNothing, 0, {}, {}};
    case 0x01:
      return address("32", 4, {0, 0, 32});
    case 0x02:
      return address("64", 8, {0, 0, 64});
    case 0x03:
      return address("G32", 4, {0, 0, 32});
    case 0x04:
      return address("G64", 8, {0, 0, 64});
    case 0x22:
      return kernel_name(address("", 4, {0, 0, 32}), "FUNC_DESC_32");
    case 0x23:
      return kernel_name(address("", 8, {0, 0, 64}), "FUNC_DESC_64");
    case 0x3d:
      return kernel_name(address("", kWord, {32, 0, 32}), "FUNC_DESC32_32");
    case 0x3e:
      return kernel_name(address("", kWord, {32, 0, 32}), "FUNC_DESC32_LO_32");
    case 0x3f:
      return kernel_name(address("", kWord, {32, 32, 32}), "FUNC_DESC32_HI_32");
    case 0x37:
      return address("ABS32_32", kWord, {32, 0, 32});
    case 0x38:
      return address("ABS32_LO_32", kWord, {32, 0, 32});
    case 0x39:
      return address("ABS32_HI_32", kWord, {32, 32, 32});
    case 0x3a:
      return address("ABS47_34", kWord, {34, 2, 47});
    case 0x3b:
      return address("ABS16_32", kWord, {32, 0, 16});
    case 0x3c:
      return address("ABS24_32", kWord, {32, 0, 24});
    case 0x40:
      return slot("CONST_FIELD19_40", {40, 2, 14});
    case 0x42:
      return slot("CONST_FIELD21_38", {38, 0, 16});
    case 0x44:
      return {"YIELD_OPCODE9_0", kNothing, kWord, {}, {}};  // a patch for breakpoints of a debugger
    case 0x45:
      return {"YIELD_CLEAR_PRED4_87", kNothing, kWord, {}, {}};
    case 0x46:
      return address("32_LO", 4, {0, 0, 32});
    case 0x47:
      return address("32_HI", 4, {0, 32, 32});
    case 0x48:
      return {"UNUSED_CLEAR32", kNothing, 4, {}, {}};  // nvlink clears these words of functions that nothing calls
    case 0x49:
      return {"UNUSED_CLEAR64", kNothing, 8, {}, {}};
    case 0x4a:
      return address("ABS24_40", kWord, {40, 0, 24});
    case 0x4b:
      return address("ABS55_16_34", kWord, {16, 2, 8}, {34, 10, 47});
    case 0x64:
      return address("ABS20_44", kWord, {44, 0, 20});
    case 0x66:
      return address("UNIFIED", 8, {0, 0, 64});
    case 0x67:
      return address("UNIFIED_32", 4, {0, 0, 32});
    case 0x70:
      return address("UNIFIED32_LO_32", kWord, {32, 0, 32});
    case 0x71:
      return address("UNIFIED32_HI_32", kWord, {32, 32, 32});
    case 0x72:
      return address("ABS56_16_34", kWord, {16, 2, 8}, {34, 10, 48});
    case 0x73:
      return slot("CONST_FIELD22_37", {37, 0, 17});
    default:
      return {};
  }
}

std::vector<RelocationProblem> apply_relocations(CodeImage& image, const Placement& placement) {
  Applier applier(image, placement);
  for (CodeSection& section : image.sections)
    applier.apply(".text." + section.name, section.bytes, section.relocations);
  for (ConstantData& constant : image.constants) {
    const std::string name =
        fmt::format(".nv.constant{}{}{}", constant.bank, constant.owner.empty() ? "" : ".", constant.owner);
    applier.apply(name, constant.bytes, constant.relocations);
  }
  for (DataSection& data : image.data) applier.apply(data.name, data.bytes, data.relocations);
  return applier.take_problems();
}

}  // namespace muscope::cubin
