// PTX texture and surface instructions -> ops (PTX ISA, "Texture Instructions", "Surface Instructions").
#include <array>

#include "code/function_lowering.h"
#include "code/texture_form.h"

namespace muscope::code {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Type;
using Kind = TextureForm::Kind;
using Outside = TextureForm::Outside;

constexpr std::size_t kResults = 4;

/// Dimensions and layers; false when the geometry is none of these (multisampled).
bool geometry(const ptx::Instruction& i, TextureForm& form) {
  struct Row {
    Mod mod;
    std::uint8_t dimensions;
    bool layered;
  };
  static constexpr Row kRows[] = {{Mod::k_1d, 1, false},  {Mod::k_2d, 2, false}, {Mod::k_3d, 3, false},
                                  {Mod::k_a1d, 1, true},  {Mod::k_a2d, 2, true}, {Mod::k_cube, 4, false},
                                  {Mod::k_acube, 4, true}};
  for (const Row& row : kRows) {
    if (!i.has(row.mod)) continue;
    form.dimensions = row.dimensions;
    form.layered = row.layered;
    return true;
  }
  return false;
}

template <typename Value>
Value chosen(const ptx::Instruction& i, std::initializer_list<std::pair<Mod, Value>> list, Value otherwise) {
  for (const auto& [mod, value] : list)
    if (i.has(mod)) return value;
  return otherwise;
}

}  // namespace

bool FunctionLowering::add_elements(Op& op, const ptx::Operand& operand, std::size_t count, Type first, Type rest) {
  if (operand.kind != OperandKind::kVector) {
    if (count != 1) return false;
    op.list.push_back(place(operand, first));
    return true;
  }
  if (operand.elements.size() < count) return false;
  for (std::size_t k = 0; k < count; ++k) op.list.push_back(place(operand.elements[k], k == 0 ? first : rest));
  return true;
}

/// The handle and the coordinates of [a, {c...}].
bool FunctionLowering::lower_image(Op& op, const ptx::Operand& where, const TextureForm& form, Type coordinate) {
  if (where.kind != OperandKind::kTexture || where.elements.size() != 2 ||
      where.elements[0].kind != OperandKind::kRegister)
    return false;
  op.a = place_of_register(where.elements[0].reg);
  return add_elements(op, where.elements[1], form.coordinates(), form.layered ? Type::kU32 : coordinate, coordinate);
}

void FunctionLowering::lower_texture(Op& op, const ptx::Instruction& i) {
  op.type = i.types[0];
  op.type2 = i.types.size() > 1 ? i.types[1] : Type::kF32;
  TextureForm form;
  const ptx::Operand& to = i.operands[0];
  const bool gather = i.opcode == Opcode::k_tld4;
  form.kind = gather                ? Kind::kGather
              : i.has(Mod::k_level) ? Kind::kLevel
              : i.has(Mod::k_grad)  ? Kind::kGradient
                                    : Kind::kFetch;
  form.component = gather ? chosen<std::uint8_t>(i, {{Mod::k_g, 1}, {Mod::k_b, 2}, {Mod::k_a, 3}}, 0) : 0;
  const std::size_t extra = form.kind == Kind::kLevel ? 1 : form.kind == Kind::kGradient ? 2 : 0;
  const bool known = geometry(i, form) && ptx::size_of(op.type) == 4 && op.type != Type::kF16x2 &&
                     to.kind == OperandKind::kVector && to.elements.size() == kResults &&
                     i.operands.size() == 2 + extra && !(gather && form.dimensions != 2);
  op.opcode = Opcode::k_tex;
  if (known) {
    for (const ptx::Operand& e : to.elements)
      op.list.push_back(e.kind == OperandKind::kSink ? Place{} : place(e, op.type));
  }
  const std::size_t along = form.dimensions == 4 ? 3u : form.dimensions;
  bool all = known && lower_image(op, i.operands[1], form, op.type2);
  if (form.kind == Kind::kLevel) all = all && add_elements(op, i.operands[2], 1, op.type2, op.type2);
  for (std::size_t k = 0; k < 2 && form.kind == Kind::kGradient; ++k)
    all = all && add_elements(op, i.operands[2 + k], along, Type::kF32, Type::kF32);
  if (!all) {
    op.opcode = Opcode::kInvalid;
    return;
  }
  op.matrix = form.pack();
  op.dst_lane_bytes = 4;
  op.vector = kResults;
  op.space = ptx::Space::kGlobal;
  op.site = add_site(i, static_cast<unsigned>(ptx::size_of(op.type)) * op.vector);
}

void FunctionLowering::lower_surface(const ptx::Instruction& i) {
  Op op;
  op.opcode = i.opcode;
  op.type = i.types.empty() ? Type::kB32 : i.types.back();
  TextureForm form;
  const bool load = i.opcode == Opcode::k_suld, reduction = i.opcode == Opcode::k_sured;
  form.outside = chosen(i, {{Mod::k_zero, Outside::kZero}, {Mod::k_clamp, Outside::kNearest}}, Outside::kFault);
  form.formatted = i.has(Mod::k_p);
  form.operation = chosen<std::uint8_t>(i, {{Mod::k_min, 1}, {Mod::k_max, 2}, {Mod::k_and, 5}, {Mod::k_or, 6}}, 0);
  form.is_signed = ptx::is_signed(op.type);
  // A formatted minimum depends on the surface's format in a way that was not measured.
  bool known = i.operands.size() == (load || reduction ? 2u : 2u) && geometry(i, form) && form.dimensions != 4 &&
               !(reduction && form.formatted && form.operation != 0);
  const ptx::Operand& data = i.operands[load ? 0 : 1];
  op.vector = static_cast<std::uint8_t>(i.has(Mod::k_v2) ? 2 : i.has(Mod::k_v4) ? 4 : 1);
  const int bytes = ptx::size_of(op.type) * op.vector;
  known = known && bytes >= 1 && bytes <= 16;
  if (known && data.kind == OperandKind::kVector) {
    known = data.elements.size() == op.vector;
    for (const ptx::Operand& e : data.elements)
      op.list.push_back(load && e.kind == OperandKind::kSink ? Place{} : place(e, op.type));
    if (known) op.dst_lane_bytes = static_cast<std::uint8_t>(lane_bytes(data.elements[0], op.type));
  } else if (known) {
    known = op.vector == 1;
    op.list.push_back(load && data.kind == OperandKind::kSink ? Place{} : place(data, op.type));
    op.dst_lane_bytes = static_cast<std::uint8_t>(lane_bytes(data, op.type));
  }
  known = known && lower_image(op, i.operands[load ? 1 : 0], form, Type::kS32);
  if (!known) return unsupported(i);
  op.matrix = form.pack();
  op.site = add_site(i, static_cast<unsigned>(bytes));
  Op& placed = emit(OpKind::kPtx, &i);
  op.source = placed.source;
  op.frame = placed.frame;
  placed = std::move(op);
}

/// txq and suq of sizes. What else they can ask for is not in the reach of an object's handle: an H200 refuses the
/// program.
void FunctionLowering::lower_query(const ptx::Instruction& i) {
  TextureForm form;
  form.kind = Kind::kSize;
  const bool size = i.has(Mod::k_width) || i.has(Mod::k_height) || i.has(Mod::k_depth);
  form.component = i.has(Mod::k_height) ? 1 : i.has(Mod::k_depth) ? 2 : 0;
  if (!size || i.operands.size() < 2 || i.operands[0].kind != OperandKind::kRegister) return unsupported(i);
  const ptx::Operand& object = i.operands[1];
  if (object.kind != OperandKind::kAddress || object.reg == ptx::kNoIndex || object.offset != 0) return unsupported(i);
  Op& op = emit(OpKind::kPtx, &i);
  op.opcode = Opcode::k_txq;
  op.type = Type::kB32;
  op.matrix = form.pack();
  op.list.push_back(place_of_register(i.operands[0].reg));
  op.a = place_of_register(object.reg);
  if (i.operands.size() > 2) op.b = place(i.operands[2], Type::kU32);
}

/// Kinds stand in the upper bits of a handle; those of objects of CUDA have none (sm_90 machine code tests bits 61 to
/// 63, an H200 finds none set).
void FunctionLowering::lower_kind_test(const ptx::Instruction& i) {
  if (i.operands.size() != 2 || i.operands[0].kind != OperandKind::kRegister) return unsupported(i);
  Op& op = emit(OpKind::kPtx, &i);
  op.opcode = Opcode::k_istypep;
  op.type = Type::kB64;
  op.offset = i.has(Mod::k_texref) ? 61 : i.has(Mod::k_samplerref) ? 62 : 63;
  op.dst = place_of_register(i.operands[0].reg);
  op.a = place(i.operands[1], Type::kB64);
}

}  // namespace muscope::code
