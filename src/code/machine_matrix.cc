// Matrix loads and stores of machine code (LDSM, STSM) -> ops with sites; what HMMA, IMMA, BMMA and DMMA compute.
#include "code/machine_builder.h"
#include "code/matrix.h"

namespace muscope::code {

using sass::Opcode;

std::optional<MatrixForm> matrix_form(const sass::Instruction& i) {
  static constexpr Factor kFloats[] = {Factor::kF16, Factor::kBf16, Factor::kTf32};
  MatrixForm form;
  if (i.memory.second.exists() || i.p0.exists()) return {};
  switch (i.opcode) {
    case Opcode::kHMMA:
      form.a = form.b = kFloats[i.memory.type];
      form.half = i.memory.bytes == 2;
      if (form.half && form.a != Factor::kF16) return {};
      break;
    case Opcode::kIMMA:
      form.a = i.memory.type & 1 ? Factor::kS8 : Factor::kU8;
      form.b = i.memory.type & 2 ? Factor::kS8 : Factor::kU8;
      form.saturate = !i.integer.wrap;
      break;
    case Opcode::kBMMA:
      form.a = form.b = Factor::kB1;
      break;
    case Opcode::kDMMA:
      form.a = form.b = Factor::kF64;
      if (i.floating.rounding != sass::Rounding::kNearest) return {};
      break;
    default:
      return {};
  }
  const unsigned lanes = 32, sum_bits = form.half ? 16 : form.a == Factor::kF64 ? 64 : 32;
  form.rows = static_cast<std::uint16_t>(i.dst.words * 32 / sum_bits * lanes / 8);
  form.k = static_cast<std::uint16_t>(i.a.words * 32 / bits_of(form.a) * lanes / form.rows);
  const bool known = form.a == Factor::kF64 || form.a == Factor::kTf32 || form.k >= (form.rows == 8 ? 16 : 8);
  return known ? std::optional(form) : std::nullopt;
}

bool lower_matrix_access(MachineBuilder& b, const sass::Instruction& i) {
  const bool store = i.opcode == Opcode::kSTSM;
  if (!store && i.opcode != Opcode::kLDSM) return false;
  const sass::Operand& data = store ? i.a : i.dst;
  lower_scale(b, i);
  Op& op = b.add(OpKind::kPtx, i);
  op.opcode = store ? ptx::Opcode::k_stmatrix : ptx::Opcode::k_ldmatrix;
  op.type = ptx::Type::kB16;
  op.space = ptx::Space::kShared;
  op.vector = data.words;
  op.transposed = i.memory.mode == 1;
  lower_address(b, i, op);
  for (unsigned n = 0; n < data.words; ++n)
    op.list.push_back(store || data.index != sass::kRz ? b.word(data, n) : Place{});
  const std::uint32_t site = b.add_site(i, 16);
  b.kernel().ops.back().site = site;
  return true;
}

}  // namespace muscope::code
