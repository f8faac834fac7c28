// Texture fetches of machine code: TEX and TLD of level 0.
#include "code/machine_builder.h"

namespace muscope::code {
namespace {

constexpr std::uint8_t kPlain = 0, kLevelZero = 1, kLevel = 3;  // MemoryForm::mode
constexpr std::uint8_t kArray = 8;                              // in MemoryForm::dimensions

}  // namespace

void lower_texture_instruction(MachineBuilder& b, const sass::Instruction& i) {
  const sass::MemoryForm& m = i.memory;
  // Textures have one level here (cudaMallocArray), so that the level that is asked for does not matter.
  if (m.mode != kPlain && m.mode != kLevelZero && m.mode != kLevel) throw CannotLower("a level of detail");
  if (m.bytes != 4 || i.pdst0.exists() || m.offset != 0 || m.depth_compare || m.multisample || m.texel_offset)
    throw CannotLower("a form of texture fetch");
  const unsigned dimensions = m.dimensions & 7u;
  const bool layered = m.dimensions & kArray;
  if (dimensions == 0 || dimensions > 3 || (layered && dimensions > 2)) throw CannotLower("a cube texture");
  Op& op = b.add(OpKind::kPtx, i);
  op.opcode = ptx::Opcode::k_tex;
  op.type = ptx::Type::kB32;
  op.type2 = i.opcode == sass::Opcode::kTLD ? ptx::Type::kS32 : ptx::Type::kF32;
  op.space = ptx::Space::kGlobal;
  op.a = b.uniform(m.descriptor.index);
  const unsigned count = dimensions + (layered ? 1 : 0);
  op.offset = count | (layered ? 16 : 0);
  Place* const places[] = {&op.b, &op.c, &op.d};
  for (unsigned n = 0; n < count; ++n) *places[n] = b.word(i.a, n);
  op.list.assign(4, Place{});
  unsigned taken = 0;
  for (unsigned component = 0; component < 4; ++component) {
    if (!((m.components >> component) & 1)) continue;
    const sass::Operand& pair = taken < 2 ? i.dst : m.dst2;
    if (pair.exists() && pair.index != sass::kRz)
      op.list[component] = b.reg(static_cast<std::uint8_t>(pair.index + taken % 2));
    ++taken;
  }
  op.vector = static_cast<std::uint8_t>(taken);
  const std::uint32_t site = b.add_site(i, 4 * taken);
  b.kernel().ops.back().site = site;
}

}  // namespace muscope::code
