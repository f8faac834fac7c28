#include "ptx/types.h"

#include <array>
#include <unordered_map>

namespace muscope::ptx {
namespace {

struct TypeFacts {
  Type type;
  std::string_view name;
  std::uint8_t size;  ///< bytes
  bool is_float;
  bool is_signed;
};

constexpr std::array kTypes = {
    TypeFacts{Type::kNone, "", 0, false, false},
    TypeFacts{Type::kB8, "b8", 1, false, false},
    TypeFacts{Type::kB16, "b16", 2, false, false},
    TypeFacts{Type::kB32, "b32", 4, false, false},
    TypeFacts{Type::kB64, "b64", 8, false, false},
    TypeFacts{Type::kB128, "b128", 16, false, false},
    TypeFacts{Type::kU8, "u8", 1, false, false},
    TypeFacts{Type::kU16, "u16", 2, false, false},
    TypeFacts{Type::kU32, "u32", 4, false, false},
    TypeFacts{Type::kU64, "u64", 8, false, false},
    TypeFacts{Type::kS8, "s8", 1, false, true},
    TypeFacts{Type::kS16, "s16", 2, false, true},
    TypeFacts{Type::kS32, "s32", 4, false, true},
    TypeFacts{Type::kS64, "s64", 8, false, true},
    TypeFacts{Type::kF16, "f16", 2, true, false},
    TypeFacts{Type::kF16x2, "f16x2", 4, true, false},
    TypeFacts{Type::kBF16, "bf16", 2, true, false},
    TypeFacts{Type::kBF16x2, "bf16x2", 4, true, false},
    TypeFacts{Type::kTF32, "tf32", 4, true, false},
    TypeFacts{Type::kF32, "f32", 4, true, false},
    TypeFacts{Type::kF64, "f64", 8, true, false},
    TypeFacts{Type::kE4M3, "e4m3", 1, true, false},
    TypeFacts{Type::kE5M2, "e5m2", 1, true, false},
    TypeFacts{Type::kE4M3x2, "e4m3x2", 2, true, false},
    TypeFacts{Type::kE5M2x2, "e5m2x2", 2, true, false},
    TypeFacts{Type::kPred, "pred", 0, false, false},
    TypeFacts{Type::kU16x2, "u16x2", 4, false, false},
    TypeFacts{Type::kS16x2, "s16x2", 4, false, true},
    TypeFacts{Type::kF32x2, "f32x2", 8, true, false},
    TypeFacts{Type::kE2M1, "e2m1", 0, true, false},
    TypeFacts{Type::kE2M1x2, "e2m1x2", 1, true, false},
    TypeFacts{Type::kE2M3, "e2m3", 1, true, false},
    TypeFacts{Type::kE2M3x2, "e2m3x2", 2, true, false},
    TypeFacts{Type::kE3M2, "e3m2", 1, true, false},
    TypeFacts{Type::kE3M2x2, "e3m2x2", 2, true, false},
    TypeFacts{Type::kUE8M0, "ue8m0", 1, true, false},
    TypeFacts{Type::kUE8M0x2, "ue8m0x2", 2, true, false},
    TypeFacts{Type::kB1, "b1", 0, false, false},
    TypeFacts{Type::kU2, "u2", 0, false, false},
    TypeFacts{Type::kS2, "s2", 0, false, true},
    TypeFacts{Type::kU4, "u4", 0, false, false},
    TypeFacts{Type::kS4, "s4", 0, false, true},
    TypeFacts{Type::kTexref, "texref", 8, false, false},
    TypeFacts{Type::kSamplerref, "samplerref", 8, false, false},
    TypeFacts{Type::kSurfref, "surfref", 8, false, false},
};
static_assert(kTypes.size() == static_cast<std::size_t>(Type::kSurfref) + 1);
constexpr bool in_order() {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kTypes stands in the order of Type");

constexpr auto kOpcodeNames = std::to_array<std::string_view>({
    "<invalid>",
#define MUSCOPE_OPCODE(name, text) text,
#include "ptx/opcode_names.inc"
#undef MUSCOPE_OPCODE
});

constexpr auto kModNames = std::to_array<std::string_view>({
    ".<invalid>",
#define MUSCOPE_MODIFIER(name, text) text,
#include "ptx/modifier_names.inc"
#undef MUSCOPE_MODIFIER
});

const TypeFacts& facts(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

struct ModFacts {
  Type type = Type::kNone;
  Space space = Space::kGeneric;
};

Space find_space(std::string_view name) {
  if (name == ".const") return Space::kConst;
  if (name == ".global") return Space::kGlobal;
  if (name == ".local") return Space::kLocal;
  if (name == ".param" || name.starts_with(".param::")) return Space::kParam;
  if (name == ".shared" || name.starts_with(".shared::")) return Space::kShared;
  return Space::kGeneric;
}

const std::array<ModFacts, kModNames.size()>& mod_facts() {
  static const auto all = [] {
    std::array<ModFacts, kModNames.size()> out{};
    for (std::size_t i = 1; i < kModNames.size(); ++i) {
      out[i].type = find_type(kModNames[i].substr(1));
      out[i].space = find_space(kModNames[i]);
    }
    return out;
  }();
  return all;
}

template <typename Id, typename Names>
Id find_in(const Names& names, std::string_view name) {
  static const auto index = [&names] {
    std::unordered_map<std::string_view, Id> map;
    for (std::size_t i = 1; i < names.size(); ++i) map.emplace(names[i], static_cast<Id>(i));
    return map;
  }();
  const auto found = index.find(name);
  return found == index.end() ? Id::kInvalid : found->second;
}

}  // namespace

int size_of(Type type) { return facts(type).size; }
bool is_float(Type type) { return facts(type).is_float; }
bool is_signed(Type type) { return facts(type).is_signed; }
std::string_view name_of(Type type) { return facts(type).name; }

std::string_view name_of(Space space) {
  switch (space) {
    case Space::kGeneric:
      return "generic";
    case Space::kReg:
      return "reg";
    case Space::kConst:
      return "const";
    case Space::kGlobal:
      return "global";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "param";
    case Space::kShared:
      return "shared";
  }
  return "?";
}

std::string_view name_of(Opcode opcode) { return kOpcodeNames[static_cast<std::size_t>(opcode)]; }
std::string_view name_of(Mod mod) { return kModNames[static_cast<std::size_t>(mod)]; }

Opcode find_opcode(std::string_view name) { return find_in<Opcode>(kOpcodeNames, name); }
Mod find_mod(std::string_view name) { return find_in<Mod>(kModNames, name); }

Type type_of(Mod mod) { return mod_facts()[static_cast<std::size_t>(mod)].type; }
Space space_of(Mod mod) { return mod_facts()[static_cast<std::size_t>(mod)].space; }

Type find_type(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, Type> map;
    for (const TypeFacts& type : kTypes) {
      if (type.type != Type::kNone) map.emplace(type.name, type.type);
    }
    return map;
  }();
  const auto found = index.find(name);
  return found == index.end() ? Type::kNone : found->second;
}

}  // namespace muscope::ptx
