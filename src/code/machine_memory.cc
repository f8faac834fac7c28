// Loads, stores and atomics of machine code -> ops with sites.
#include <fmt/format.h>

#include "code/machine_builder.h"

namespace muscope::code {
namespace {

using ptx::Space;
using ptx::Type;
using sass::Opcode;
using sass::OperandKind;

struct MemoryKind {
  ptx::Opcode opcode = ptx::Opcode::kInvalid;
  Space space = Space::kGeneric;
};

constexpr std::uint8_t kPopcIncrement = 10;  // MemoryForm::atomic

MemoryKind memory_kind(Opcode opcode) {
  switch (opcode) {
    case Opcode::kLD:
      return {ptx::Opcode::k_ld, Space::kGeneric};
    case Opcode::kLDG:
      return {ptx::Opcode::k_ld, Space::kGlobal};
    case Opcode::kLDS:
      return {ptx::Opcode::k_ld, Space::kShared};
    case Opcode::kLDL:
      return {ptx::Opcode::k_ld, Space::kLocal};
    case Opcode::kLDC:
    case Opcode::kULDC:
      return {ptx::Opcode::k_ld, Space::kConst};
    case Opcode::kST:
      return {ptx::Opcode::k_st, Space::kGeneric};
    case Opcode::kSTG:
      return {ptx::Opcode::k_st, Space::kGlobal};
    case Opcode::kSTS:
      return {ptx::Opcode::k_st, Space::kShared};
    case Opcode::kSTL:
      return {ptx::Opcode::k_st, Space::kLocal};
    case Opcode::kATOM:
      return {ptx::Opcode::k_atom, Space::kGeneric};
    case Opcode::kATOMG:
      return {ptx::Opcode::k_atom, Space::kGlobal};
    case Opcode::kATOMS:
      return {ptx::Opcode::k_atom, Space::kShared};
    case Opcode::kRED:
      return {ptx::Opcode::k_red, Space::kGeneric};
    case Opcode::kREDG:
      return {ptx::Opcode::k_red, Space::kGlobal};
    default:
      return {};
  }
}

/// The PTX type that moves the same bytes.
Type data_type(const sass::MemoryForm& form) {
  switch (form.bytes) {
    case 1:
      return form.is_signed ? Type::kS8 : Type::kU8;
    case 2:
      return form.is_signed ? Type::kS16 : Type::kU16;
    default:
      return Type::kB32;
  }
}

Type atomic_type(const sass::Instruction& i) {
  static constexpr Type kByNumber[] = {Type::kU32, Type::kS32, Type::kU64,   Type::kS64,
                                       Type::kF32, Type::kF64, Type::kF16x2, Type::kBF16x2};
  if (i.memory.type >= std::size(kByNumber)) throw CannotLower("the type of an atomic");
  return kByNumber[i.memory.type];
}

}  // namespace

void lower_scale(MachineBuilder& b, const sass::Instruction& i) {
  const sass::MemoryForm& m = i.memory;
  if (m.scale == 0 || !m.base.exists() || m.base.index == sass::kRz) return;
  if (m.address_64) throw CannotLower("a scaled address of 64 bits");
  Op& op = b.add(OpKind::kPtx, i);
  op.opcode = ptx::Opcode::k_shl;
  op.type = Type::kB32;
  op.dst = b.temporary(0);
  op.a = b.reg(m.base.index);
  op.b = b.literal(m.scale);
  op.sass = nullptr;
}

void lower_address(MachineBuilder& b, const sass::Instruction& i, Op& op) {
  const sass::MemoryForm& m = i.memory;
  op.offset = m.offset;
  op.address_is_64 = false;
  const bool has_base = m.base.exists() && m.base.index != sass::kRz;
  if (has_base) {
    op.a = m.scale != 0 ? b.temporary(0) : b.reg(m.base.index);
    op.address_is_pair = m.address_64;
  }
  if (m.uniform.exists() && m.uniform.index != sass::kUrz) {
    op.e = b.uniform(m.uniform.index);
    op.uniform_bytes = m.uniform_64 ? 8 : 4;
  }
}

namespace {

/// LDC and ULDC: the constant bank at an offset, by register or not.
void lower_constant(MachineBuilder& b, const sass::Instruction& i) {
  const sass::Operand& bank = i.b;
  const unsigned words = i.memory.bytes <= 4 ? 1 : i.memory.bytes / 4u;
  if (bank.uniform_bank) throw CannotLower("a constant bank by register");
  const bool uniform = i.opcode == Opcode::kULDC;
  const bool indexed = i.memory.base.exists() && i.memory.base.index != sass::kRz &&
                       !(i.memory.base.kind == OperandKind::kUniform && i.memory.base.index == sass::kUrz);
  if (uniform && !indexed && i.memory.bytes >= 4) {
    // Not a request of the constant cache that counters see (idc__requests): the uniform datapath's own.
    sass::Operand from = bank;
    from.words = static_cast<std::uint8_t>(words);
    const Place place = b.value(from);
    for (unsigned n = 0; n < words; ++n) {
      Op& op = b.add(OpKind::kPtx, i);
      op.opcode = ptx::Opcode::k_mov;
      op.type = Type::kB32;
      op.dst = Place{b.result(i.dst).bits + n * kSlotBytes};
      op.a = Place{place.bits + n * kSlotBytes};
      op.uniform = true;
    }
    return;
  }
  Op& op = b.add(OpKind::kPtx, i);
  op.opcode = ptx::Opcode::k_ld;
  op.type = data_type(i.memory);
  op.vector = static_cast<std::uint8_t>(words);
  op.space = bank.index == 0 ? Space::kParam : Space::kConst;
  std::uint64_t start = kParamWindow;
  if (bank.index != 0) {
    const auto& banks = b.input().banks;
    start = bank.index < banks.size() ? banks[bank.index] : 0;
    if (start == 0) throw CannotLower(fmt::format("constant bank {:#x}", bank.index));
  }
  // The address is 64 bits wide here: bank plus register plus offset, the register's 32 bits as they are.
  op.offset = static_cast<std::int64_t>(start) + static_cast<std::int32_t>(bank.value);
  op.address_is_64 = false;
  if (indexed) {
    op.a = b.value(i.memory.base);
    op.e = b.constant_words(std::vector<ConstSlot>(2));
    op.uniform_bytes = 8;
  }
  op.uniform = uniform;
  for (unsigned n = 0; n < words; ++n) op.list.push_back(b.word(i.dst, n));
  if (i.dst.index == sass::kRz && i.dst.kind == OperandKind::kRegister) op.list.assign(words, Place{});
  const std::uint32_t site = b.add_site(i, i.memory.bytes);
  b.kernel().ops.back().site = uniform ? 0xffffffffu : site;
}

void lower_atomic(MachineBuilder& b, const sass::Instruction& i, MemoryKind kind) {
  const bool spin = i.memory.spin;
  lower_scale(b, i);
  Op& op = b.add(spin ? OpKind::kMachine : OpKind::kPtx, i);
  const bool used = i.dst.exists() && i.dst.index != sass::kRz;
  op.machine = spin ? MachineKind::kCastSpin : MachineKind::kNone;
  op.opcode = kind.opcode;
  op.space = kind.space;
  op.type = atomic_type(i);
  if (op.type == Type::kU64 && i.memory.atomic == 9) op.type = Type::kB64;
  lower_address(b, i, op);
  const bool increments = i.memory.atomic == kPopcIncrement;
  op.vector = i.memory.vector;
  if (op.vector == 1) {
    op.b = increments ? b.literal(1) : b.value(i.a);
    if (i.b.exists()) op.c = b.value(i.b);
    if (used) op.dst = b.result(i.dst);
  } else {
    // Each element is one register, also of packed halves.
    if (i.memory.atomic != 0) throw CannotLower("a vector atomic");
    for (unsigned n = 0; n < op.vector; ++n)
      op.list.push_back(used ? Place{b.result(i.dst).bits + n * kSlotBytes} : Place{});
    for (unsigned n = 0; n < op.vector; ++n) op.list.push_back(b.word(i.a, n));
  }
  op.result_used = used || (kind.opcode == ptx::Opcode::k_atom && kind.space != Space::kShared) || spin;
  op.polls = used;
  op.site = b.add_site(i, static_cast<unsigned>(ptx::size_of(op.type)) * op.vector);
  const bool partial = i.pdst0.exists() && i.pdst0.index != sass::kPt;
  if (partial && op.vector > 1) throw CannotLower("a vector atomic with a predicate result");
  if (i.opcode == Opcode::kATOM && partial) {
    // Not done where the address is not global: code after it does it otherwise.
    op.dst2 = b.predicate_result(i.pdst0);
    op.space = Space::kGeneric;
  } else if (partial) {
    throw CannotLower("an atomic with a predicate result");
  }
}

}  // namespace

void lower_space_query(MachineBuilder& b, const sass::Instruction& i) {
  Op& op = b.add(OpKind::kPtx, i);
  op.opcode = ptx::Opcode::k_isspacep;
  lower_address(b, i, op);
  op.vector = i.memory.mode;
  op.dst = b.predicate_result(i.pdst0);
  if (i.dst.exists() && i.dst.index != sass::kRz) throw CannotLower("a register result");
}

bool is_memory_instruction(const sass::Instruction& i) { return memory_kind(i.opcode).opcode != ptx::Opcode::kInvalid; }

void lower_memory_instruction(MachineBuilder& b, const sass::Instruction& i) {
  const MemoryKind kind = memory_kind(i.opcode);
  if (i.opcode == Opcode::kLDC || i.opcode == Opcode::kULDC) return lower_constant(b, i);
  if (kind.opcode == ptx::Opcode::k_atom || kind.opcode == ptx::Opcode::k_red) return lower_atomic(b, i, kind);
  const bool store = kind.opcode == ptx::Opcode::k_st;
  const unsigned words = i.memory.bytes <= 4 ? 1 : i.memory.bytes / 4u;
  if (i.pdst0.exists() || i.p0.exists()) throw CannotLower("a predicate beside the guard");
  lower_scale(b, i);
  Op& op = b.add(OpKind::kPtx, i);
  op.opcode = kind.opcode;
  op.space = kind.space;
  op.type = data_type(i.memory);
  op.vector = static_cast<std::uint8_t>(words);
  lower_address(b, i, op);
  op.polls = !store && i.memory.strength >= 2 && kind.space != Space::kLocal;
  for (unsigned n = 0; n < words; ++n) {
    if (store)
      op.list.push_back(b.word(i.a, n));
    else
      op.list.push_back(i.dst.index == sass::kRz ? Place{} : Place{b.result(i.dst).bits + n * kSlotBytes});
  }
  const std::uint32_t site = b.add_site(i, i.memory.bytes);
  b.kernel().ops.back().site = site;
}

}  // namespace muscope::code
