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

namespace {

struct WmmaShape {
  Mod mod;
  std::uint8_t rows, columns, k;
};
constexpr WmmaShape kWmmaShapes[] = {{Mod::k_m16n16k16, 16, 16, 16}, {Mod::k_m32n8k16, 32, 8, 16},
                                     {Mod::k_m8n32k16, 8, 32, 16},   {Mod::k_m16n16k8, 16, 16, 8},
                                     {Mod::k_m8n8k4, 8, 8, 4},       {Mod::k_m8n8k32, 8, 8, 32},
                                     {Mod::k_m8n8k128, 8, 8, 128}};

std::optional<WmmaShape> wmma_shape(const ptx::Instruction& i) {
  for (const WmmaShape& shape : kWmmaShapes)
    if (i.has(shape.mod)) return shape;
  return {};
}

/// Whether that shape has factors of that many bits.
bool goes_with(const WmmaShape& shape, unsigned bits) {
  switch (shape.k) {
    case 16:
      return bits == 16 || bits == 8;
    case 8:
      return bits == 32;
    case 4:
      return bits == 64;
    case 32:
      return bits == 4;
    default:
      return bits == 1;
  }
}

/// wmma.mma as one or two products of eight columns (FragmentForm says which registers are whose).
std::optional<MatrixForm> wmma_form(const ptx::Instruction& i) {
  const auto shape = wmma_shape(i);
  if (!shape || !i.has(Mod::k_mma) || i.types.size() < 2) return {};
  const bool halves = i.types.size() == 2;  // .dtype.ctype alone: F16 factors
  const auto a = halves ? Factor::kF16 : factor_of(i.types[1]), b = halves ? Factor::kF16 : factor_of(i.types[2]);
  if (!a || !b || !goes_with(*shape, bits_of(*a)) || bits_of(*a) != bits_of(*b)) return {};
  if (i.types.front() != i.types.back() || i.has(Mod::k_rz) || i.has(Mod::k_rm) || i.has(Mod::k_rp)) return {};
  MatrixForm form;
  const bool flip = shape->columns == 32;
  form.a = flip ? *b : *a, form.b = flip ? *a : *b;
  form.rows = shape->rows == 8 && !flip ? 8 : 16;
  form.k = shape->k;
  form.blocks = form.rows == 8 ? 1 : 2;
  form.half = i.types[0] == Type::kF16;
  form.saturate = i.has(Mod::k_satfinite);
  form.exclusive = i.has(Mod::k_xor);
  if (bits_of(form.a) >= 16 && form.saturate) return {};
  return form;
}

}  // namespace

/// Registers in the order d, a, b, c, for each product.
void FunctionLowering::lower_mma(const ptx::Instruction& i) {
  const bool wmma = i.opcode == Opcode::k_wmma;
  const auto form = wmma ? wmma_form(i) : matrix_form(i);
  if (!form || i.operands.size() != 4) return unsupported(i);
  const Type type = form->a == Factor::kF64 ? Type::kB64 : Type::kB32;
  const bool flip = wmma && i.has(Mod::k_m8n32k16);
  const bool a_is_shared = wmma && !flip && !i.has(Mod::k_m32n8k16);  // the blocks differ in columns
  std::vector<Place> list;
  for (unsigned block = 0; block < form->blocks; ++block) {
    // Of d, a, b, c: which operand, how many registers a product has, and where its registers start.
    const struct {
      unsigned operand, count, first;
    } parts[] = {{0, form->c_registers(), block * form->c_registers()},
                 {flip ? 2u : 1u, form->a_registers(), a_is_shared ? 0 : block * form->a_registers()},
                 {flip ? 1u : 2u, form->b_registers(), a_is_shared ? block * form->b_registers() : 0},
                 {3, form->c_registers(), block * form->c_registers()}};
    for (const auto& part : parts) {
      const ptx::Operand& operand = i.operands[part.operand];
      const std::size_t most = part.first + part.count;
      if (operand.kind != OperandKind::kVector ||
          (wmma ? operand.elements.size() < most : operand.elements.size() != most))
        return unsupported(i);
      for (std::size_t n = part.first; n < most; ++n) {
        const ptx::Operand& e = operand.elements[n];
        if (e.kind == OperandKind::kSink && part.operand != 0) return unsupported(i);
        list.push_back(e.kind == OperandKind::kSink ? Place{} : place(e, type));
      }
    }
  }
  Op& op = emit(OpKind::kPtx, &i);
  op.opcode = Opcode::k_mma;
  op.type = type;
  op.list = std::move(list);
  op.matrix = form->pack();
}

void FunctionLowering::lower_fragment_access(const ptx::Instruction& i) {
  const bool store = i.has(Mod::k_store);
  const auto shape = wmma_shape(i);
  const Space space = i.space();
  if (!shape || i.operands.size() < 2 || i.types.size() != 1 ||
      (space != Space::kShared && space != Space::kGlobal && space != Space::kGeneric))
    return unsupported(i);
  FragmentForm form;
  form.matrix = store || i.has(Mod::k_c) ? FragmentForm::kC : i.has(Mod::k_a) ? FragmentForm::kA : FragmentForm::kB;
  form.rows = shape->rows, form.columns = shape->columns, form.k = shape->k;
  form.by_columns = i.has(Mod::k_col);
  const auto factor = factor_of(i.types[0]);
  const bool sums = form.matrix == FragmentForm::kC;
  form.bits = static_cast<std::uint8_t>(sums ? 8 * ptx::size_of(i.types[0]) : factor ? bits_of(*factor) : 0);
  if (sums ? form.bits < 16 : !goes_with(*shape, form.bits)) return unsupported(i);
  const ptx::Operand& where = i.operands[store ? 0 : 1];
  const ptx::Operand& data = i.operands[store ? 1 : 0];
  const bool repeats = !sums && i.types[0] == Type::kF16;
  const std::size_t registers = repeats ? 8 : form.distinct();
  if (where.kind != OperandKind::kAddress || data.kind != OperandKind::kVector || data.elements.size() != registers)
    return unsupported(i);
  form.registers = static_cast<std::uint8_t>(registers);
  // Below a byte only the order in which k runs on is there.
  if (form.bits < 8 && form.by_columns == (form.matrix == FragmentForm::kA)) return unsupported(i);
  Op op;
  op.opcode = Opcode::k_wmma;
  op.type = i.types[0];
  op.space = space;
  op.matrix = form.pack();
  op.transposed = store;
  address(op, where);
  const unsigned natural = form.matrix == FragmentForm::kA   ? (form.by_columns ? form.rows : form.k)
                           : form.matrix == FragmentForm::kB ? (form.by_columns ? form.k : form.columns)
                                                             : (form.by_columns ? form.rows : form.columns);
  op.b = i.operands.size() > 2 ? place(i.operands[2], Type::kB32) : b_.pool.literal(natural, 4);
  const Type element = form.bits == 64 ? Type::kB64 : Type::kB32;
  for (const ptx::Operand& e : data.elements) {
    if (e.kind == OperandKind::kSink && store) return unsupported(i);
    op.list.push_back(e.kind == OperandKind::kSink ? Place{} : place(e, element));
  }
  if (op.opcode == Opcode::kInvalid) return unsupported(i);
  op.site = add_site(i, std::max(form.bits / 8u, 4u));
  Op& placed = emit(OpKind::kPtx, &i);
  op.source = placed.source;
  op.frame = placed.frame;
  placed = std::move(op);
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
