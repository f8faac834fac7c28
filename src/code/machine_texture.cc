// Textures and surfaces of machine code.
#include "code/machine_builder.h"
#include "code/texture_form.h"

namespace muscope::code {
namespace {

using Kind = TextureForm::Kind;
using Outside = TextureForm::Outside;
using sass::Opcode;

constexpr std::uint8_t kPlain = 0, kLevelZero = 1, kLevel = 3;  // MemoryForm::mode of TEX and TLD
constexpr std::uint8_t kArray = 8;                              // in MemoryForm::dimensions
constexpr std::uint8_t kSizeQuery = 0;                          // MemoryForm::mode of TXQ
constexpr std::uint32_t kFormattedStore = 0xf9b;                // MemoryForm::form
constexpr std::uint32_t kByteAddress = 1u << 8;                 // bit 72 of the word: .BA, x counts bytes

TextureForm form_of(const sass::MemoryForm& m) {
  TextureForm form;
  form.dimensions = m.dimensions & 7u;
  form.layered = m.dimensions & kArray;
  return form;
}

/// Results of TEX and its like: those that memory.components names, in two pairs of registers.
unsigned add_results(MachineBuilder& b, const sass::Instruction& i, Op& op) {
  op.list.assign(4, Place{});
  unsigned taken = 0;
  for (unsigned component = 0; component < 4; ++component) {
    if (!((i.memory.components >> component) & 1)) continue;
    const sass::Operand& pair = taken < 2 ? i.dst : i.memory.dst2;
    if (pair.exists() && pair.index != sass::kRz)
      op.list[component] = b.reg(static_cast<std::uint8_t>(pair.index + taken % 2));
    ++taken;
  }
  return taken;
}

void lower_sample(MachineBuilder& b, const sass::Instruction& i) {
  const sass::MemoryForm& m = i.memory;
  TextureForm form = form_of(m);
  if (m.bytes != 4 || i.pdst0.exists() || m.offset != 0 || m.depth_compare || m.multisample || m.texel_offset)
    throw CannotLower("a form of texture fetch");
  form.divided = form.dimensions == 4;
  switch (i.opcode) {
    case Opcode::kTXD:
      form.kind = Kind::kGradient;
      break;
    case Opcode::kTLD4:
      form.kind = Kind::kGather;
      form.component = m.mode;
      if (form.dimensions != 2) throw CannotLower("a gather from a cube");
      break;
    default:
      if (m.mode != kPlain && m.mode != kLevelZero && m.mode != kLevel) throw CannotLower("a level of detail");
      form.kind = m.mode == kLevel ? Kind::kLevel : Kind::kFetch;
  }
  Op& op = b.add(OpKind::kPtx, i);
  op.opcode = ptx::Opcode::k_tex;
  op.type = ptx::Type::kB32;
  op.type2 = i.opcode == Opcode::kTLD ? ptx::Type::kS32 : ptx::Type::kF32;
  op.space = ptx::Space::kGlobal;
  op.a = b.uniform(m.descriptor.index);
  const unsigned taken = add_results(b, i, op);
  for (unsigned n = 0; n < form.coordinates(); ++n) op.list.push_back(b.word(i.a, n));
  if (form.kind == Kind::kLevel) op.list.push_back(b.word(i.b, 0));
  // Machine code has x and y of the first coordinate, then of the next; the op all of x first.
  for (unsigned k = 0; k < 2 && form.kind == Kind::kGradient; ++k)
    for (unsigned d = 0; d < form.dimensions; ++d) op.list.push_back(b.word(i.b, 2 * d + k));
  op.matrix = form.pack();
  op.vector = static_cast<std::uint8_t>(taken);
  const std::uint32_t site = b.add_site(i, 4 * taken);
  b.kernel().ops.back().site = site;
}

/// TXQ of sizes: one op for each.
void lower_query(MachineBuilder& b, const sass::Instruction& i) {
  const sass::MemoryForm& m = i.memory;
  if (m.mode != kSizeQuery || m.offset != 0 || (m.components & 8) != 0) throw CannotLower("a texture query");
  std::vector<Place> results;
  {
    Op scratch;
    add_results(b, i, scratch);
    results = scratch.list;
  }
  // The level's register may be one of the results: it is kept.
  Op& kept = b.add(OpKind::kPtx, i);
  kept.opcode = ptx::Opcode::k_mov;
  kept.type = ptx::Type::kB32;
  kept.dst = b.temporary(0);
  kept.a = b.word(i.a, 0);
  for (std::uint8_t component = 0; component < 3; ++component) {
    if (!results[component].exists()) continue;
    TextureForm form;
    form.kind = Kind::kSize;
    form.component = component;
    Op& op = b.add(OpKind::kPtx, i);
    op.opcode = ptx::Opcode::k_txq;
    op.type = ptx::Type::kB32;
    op.a = b.uniform(m.descriptor.index);
    op.b = b.temporary(0);
    op.list.push_back(results[component]);
    op.matrix = form.pack();
  }
}

void lower_surface(MachineBuilder& b, const sass::Instruction& i) {
  const sass::MemoryForm& m = i.memory;
  TextureForm form = form_of(m);
  const bool reduction = i.opcode == Opcode::kSURED;
  form.outside = static_cast<Outside>(m.mode);
  form.formatted = m.form == kFormattedStore || (reduction && !(m.modifiers & kByteAddress));
  form.operation = reduction ? m.atomic : 0;
  form.is_signed = reduction && (m.type == 1 || m.type == 3);
  if (m.offset != 0 || (!form.formatted && !(m.modifiers & kByteAddress)) || i.pdst0.exists())
    throw CannotLower("a form of surface access");
  const bool known = form.operation <= 2 || (form.operation >= 5 && form.operation <= 7);
  if (reduction && (!known || m.type > 3 || (form.formatted && form.operation != 0)))
    throw CannotLower("a reduction on a surface");
  Op& op = b.add(OpKind::kPtx, i);
  op.opcode = reduction ? ptx::Opcode::k_sured : i.opcode == Opcode::kSULD ? ptx::Opcode::k_suld : ptx::Opcode::k_sust;
  unsigned words = m.bytes > 4 ? m.bytes / 4u : 1;
  op.type = m.bytes == 1   ? (m.is_signed ? ptx::Type::kS8 : ptx::Type::kB8)
            : m.bytes == 2 ? (m.is_signed ? ptx::Type::kS16 : ptx::Type::kB16)
                           : ptx::Type::kB32;
  if (m.form == kFormattedStore) {
    words = m.components == 1 ? 1 : m.components == 3 ? 2 : 4;
    op.type = ptx::Type::kB32;
  }
  op.vector = static_cast<std::uint8_t>(words);
  op.dst_lane_bytes = 4;
  op.a = b.uniform(m.descriptor.index);
  const sass::Operand& data = i.opcode == Opcode::kSULD ? i.dst : i.a;
  for (unsigned n = 0; n < words; ++n) {
    if (i.opcode == Opcode::kSULD)
      op.list.push_back(data.index == sass::kRz ? Place{} : Place{b.result(data).bits + n * kSlotBytes});
    else
      op.list.push_back(b.word(data, n));
  }
  // The layer comes last here, first in the op.
  const unsigned plain = form.coordinates() - (form.layered ? 1 : 0);
  if (form.layered) op.list.push_back(b.word(m.base, plain));
  for (unsigned n = 0; n < plain; ++n) op.list.push_back(b.word(m.base, n));
  op.matrix = form.pack();
  op.site = b.add_site(i, words * static_cast<unsigned>(ptx::size_of(op.type)));
}

}  // namespace

bool lower_texture_instruction(MachineBuilder& b, const sass::Instruction& i) {
  switch (i.opcode) {
    case Opcode::kTEX:
    case Opcode::kTLD:
    case Opcode::kTLD4:
    case Opcode::kTXD:
      lower_sample(b, i);
      return true;
    case Opcode::kTXQ:
      lower_query(b, i);
      return true;
    case Opcode::kSULD:
    case Opcode::kSUST:
    case Opcode::kSURED:
      lower_surface(b, i);
      return true;
    default:
      return false;
  }
}

}  // namespace muscope::code
