// mma, ldmatrix, stmatrix and movmatrix of PTX -> ops.
#include "code/function_lowering.h"
#include "code/matrix.h"

namespace muscope::code {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;

std::optional<Factor> factor_of(Type type) {
  switch (type) {
    case Type::kF16:
      return Factor::kF16;
    case Type::kBF16:
      return Factor::kBf16;
    case Type::kTF32:
      return Factor::kTf32;
    case Type::kE4M3:
      return Factor::kE4m3;
    case Type::kE5M2:
      return Factor::kE5m2;
    case Type::kF64:
      return Factor::kF64;
    case Type::kS8:
      return Factor::kS8;
    case Type::kU8:
      return Factor::kU8;
    case Type::kS4:
      return Factor::kS4;
    case Type::kU4:
      return Factor::kU4;
    case Type::kB1:
      return Factor::kB1;
    default:
      return {};
  }
}

struct Shape {
  Mod mod;
  std::uint16_t rows, k;
};
constexpr Shape kShapes[] = {{Mod::k_m8n8k4, 8, 4},       {Mod::k_m8n8k16, 8, 16},    {Mod::k_m8n8k32, 8, 32},
                             {Mod::k_m8n8k128, 8, 128},   {Mod::k_m16n8k4, 16, 4},    {Mod::k_m16n8k8, 16, 8},
                             {Mod::k_m16n8k16, 16, 16},   {Mod::k_m16n8k32, 16, 32},  {Mod::k_m16n8k64, 16, 64},
                             {Mod::k_m16n8k128, 16, 128}, {Mod::k_m16n8k256, 16, 256}};

/// The k that a shape may have for a type: its fragments fill 1, 2 or 4 registers of A (F64: 1 to 8).
bool shape_exists(const MatrixForm& form) {
  const unsigned registers = form.rows * form.k * bits_of(form.a) / (32 * form.register_bits());
  if (form.a == Factor::kF64) return registers >= 1 && registers <= 8 && (form.rows == 16 || form.k == 4);
  if (form.rows == 8) return registers == 1 && bits_of(form.a) <= 8;
  return registers == 2 || registers == 4;
}

}  // namespace

std::optional<MatrixForm> matrix_form(const ptx::Instruction& i) {
  if (i.opcode != Opcode::k_mma || i.has(Mod::k_sp) || i.has(Mod::k_sp_ordered_metadata) || i.types.size() != 4)
    return {};
  MatrixForm form;
  bool shaped = false;
  for (const Shape& shape : kShapes)
    if (i.has(shape.mod)) form.rows = shape.rows, form.k = shape.k, shaped = true;
  const auto a = factor_of(i.types[1]), b = factor_of(i.types[2]);
  if (!shaped || !a || !b || bits_of(*a) != bits_of(*b) || i.types[0] != i.types[3] || !i.has(Mod::k_row) ||
      !i.has(Mod::k_col))
    return {};
  form.a = *a, form.b = *b;
  form.half = i.types[0] == Type::kF16;
  form.saturate = i.has(Mod::k_satfinite);
  form.exclusive = i.has(Mod::k_xor);
  const bool floats = bits_of(form.a) >= 16 || form.a == Factor::kE4m3 || form.a == Factor::kE5m2;
  if (bits_of(form.a) >= 16 && form.a != form.b) return {};
  if (i.types[0] != (form.half ? Type::kF16 : form.a == Factor::kF64 ? Type::kF64 : floats ? Type::kF32 : Type::kS32))
    return {};
  const bool rounds = i.has(Mod::k_rz) || i.has(Mod::k_rm) || i.has(Mod::k_rp);
  if (rounds || !shape_exists(form)) return {};
  return form;
}

/// Registers of the operands in the order d, a, b, c.
void FunctionLowering::lower_mma(const ptx::Instruction& i) {
  const auto form = matrix_form(i);
  if (!form || i.operands.size() != 4) return unsupported(i);
  const std::size_t counts[] = {form->c_registers(), form->a_registers(), form->b_registers(), form->c_registers()};
  const Type type = form->a == Factor::kF64 ? Type::kB64 : Type::kB32;
  std::vector<Place> list;
  for (std::size_t n = 0; n < 4; ++n) {
    const ptx::Operand& operand = i.operands[n];
    if (operand.kind != OperandKind::kVector || operand.elements.size() != counts[n]) return unsupported(i);
    for (const ptx::Operand& e : operand.elements) {
      if (e.kind == OperandKind::kSink && n != 0) return unsupported(i);
      list.push_back(e.kind == OperandKind::kSink ? Place{} : place(e, type));
    }
  }
  Op& op = emit(OpKind::kPtx, &i);
  op.opcode = i.opcode;
  op.type = type;
  op.list = std::move(list);
  op.offset = form->pack();
}

void FunctionLowering::lower_matrix_access(const ptx::Instruction& i) {
  const bool store = i.opcode == Opcode::k_stmatrix;
  const Space space = i.space();
  const bool plain = i.has(Mod::k_m8n8) && i.types.size() == 1 && i.types[0] == Type::kB16;
  const unsigned count = i.has(Mod::k_x4) ? 4 : i.has(Mod::k_x2) ? 2 : 1;
  if (!plain || i.operands.size() != 2 || (space != Space::kShared && space != Space::kGeneric)) return unsupported(i);
  const ptx::Operand& where = i.operands[store ? 0 : 1];
  const ptx::Operand& data = i.operands[store ? 1 : 0];
  if (where.kind != OperandKind::kAddress || data.kind != OperandKind::kVector || data.elements.size() != count)
    return unsupported(i);
  Op op;
  op.opcode = i.opcode;
  op.type = Type::kB16;
  op.space = space;
  op.vector = static_cast<std::uint8_t>(count);
  op.transposed = i.has(Mod::k_trans);
  address(op, where);
  for (const ptx::Operand& e : data.elements) {
    if (e.kind == OperandKind::kSink && store) return unsupported(i);
    op.list.push_back(e.kind == OperandKind::kSink ? Place{} : place(e, Type::kB32));
  }
  if (op.opcode == Opcode::kInvalid) return unsupported(i);
  op.site = add_site(i, 16);
  Op& placed = emit(OpKind::kPtx, &i);
  op.source = placed.source;
  op.frame = placed.frame;
  placed = std::move(op);
}

}  // namespace muscope::code
