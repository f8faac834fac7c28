// One SASS instruction of compute capability 7.0 to 9.0, decoded: what the executor and the counts need to know of it.
//
//   lo 0x0000000407077c24  hi 0x001fe2000f8e0200   ->   IMAD R7, R7, UR4, R0
//
// NVIDIA does not document the encoding. It was taken from the disassembler's own text (tests/sass: every form there is
// compared word by word) and, for what a field means, from executing the same PTX both ways.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace muscope::sass {

/// The 128 bits of an instruction.
struct Word {
  std::uint64_t lo = 0, hi = 0;

  /// `count` bits (1 to 64) from bit `first` (0 to 127) on.
  constexpr std::uint64_t bits(unsigned first, unsigned count) const {
    std::uint64_t value = first < 64 ? lo >> first : hi >> (first - 64);
    if (first < 64 && first > 0 && first + count > 64) value |= hi << (64 - first);
    return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
  }
  constexpr bool bit(unsigned position) const { return bits(position, 1) != 0; }
  constexpr unsigned opcode() const { return static_cast<unsigned>(bits(0, 12)); }
};

inline constexpr std::uint8_t kRz = 255;  ///< register that reads zero
inline constexpr std::uint8_t kUrz = 63;  ///< uniform register that reads zero
inline constexpr std::uint8_t kPt = 7;    ///< predicate that is true, also of the uniform ones

enum class Opcode : std::uint16_t {
  kInvalid,
#define MUSCOPE_SASS_OPCODE(name) k##name,
#include "sass/opcodes.inc"
#undef MUSCOPE_SASS_OPCODE
  kOpcodes
};

enum class OperandKind : std::uint8_t {
  kNone,
  kRegister,   ///< index 0 to 254, or kRz
  kUniform,    ///< index 0 to 62, or kUrz
  kPredicate,  ///< index 0 to 6, or kPt
  kUniformPredicate,
  kImmediate,  ///< value: its 32 bits
  kConstant,   ///< c[index][value]: bank and byte offset; with `uniform_bank`, bank address in uniform register pair
               ///< `index`
  kBarrier,    ///< convergence barrier B0 to B15
};

struct Operand {
  OperandKind kind = OperandKind::kNone;
  std::uint8_t index = 0;
  std::uint8_t words = 1;  ///< 32-bit registers it spans: 2 for 64-bit values, 4 for 128 bit
  bool negate = false, absolute = false;
  bool invert = false;        ///< ~ of integers, ! of predicates
  bool uniform_bank = false;  ///< kConstant
  std::uint8_t half = 0;      ///< packed halves: 0 as they are, 2 the low one twice, 3 the high one twice
  std::uint32_t value = 0;

  bool exists() const { return kind != OperandKind::kNone; }
  bool operator==(const Operand&) const = default;
};

enum class Compare : std::uint8_t {
  kF,
  kLt,
  kEq,
  kLe,
  kGt,
  kNe,
  kGe,
  kNum,
  kNan,
  kLtu,
  kEqu,
  kLeu,
  kGtu,
  kNeu,
  kGeu,
  kT
};
enum class Combine : std::uint8_t { kAnd, kOr, kXor };
enum class Rounding : std::uint8_t { kNearest, kDown, kUp, kZero };

/// Modifiers of integer, logic, move, predicate and lane-exchange instructions. Absent ones keep their defaults.
struct IntegerForm {
  bool is_unsigned = false;       ///< .U32
  bool extended = false;          ///< .X, .EX: with carry in
  bool wide = false;              ///< .WIDE: 64-bit result
  bool high = false;              ///< .HI
  bool right = false;             ///< SHF.R (false: .L)
  bool wrap = false;              ///< .W
  std::uint8_t source_bits = 32;  ///< SHF: width of the shifted value, 32 or 64
  bool source_signed = false;     ///< SHF .S32/.S64
  std::uint8_t lut = 0;           ///< LOP3, PLOP3
  std::uint8_t lut2 = 0;          ///< PLOP3: of the second result
  std::uint8_t shift = 0;         ///< LEA
  bool sign_extended = false;     ///< LEA .SX32
  Compare compare = Compare::kF;
  Combine combine = Combine::kAnd;
  bool packed = false;       ///< .16x2: two 16-bit values in a register
  bool relu = false;         ///< .RELU: the result is at least 0
  std::uint8_t mode = 0;     ///< what one number selects; see integer_parts.h
  std::uint8_t special = 0;  ///< S2R, S2UR, CS2R: number of the special register (special_registers.h)
};

/// Formats of floating-point values, by the codes that conversions use.
enum class FloatFormat : std::uint8_t { kNone, kF16, kF32, kF64, kBf16, kTf32, kE5m2, kE4m3 };

/// How F2FP puts its results together.
enum class Packing : std::uint8_t {
  kPackAb,         ///< a to the upper half, b to the lower one
  kMergeC,         ///< b to one half, the other from c
  kPackB,          ///< b fills the register
  kUnpackB,        ///< two bytes of b become two halves
  kUnpackBMergeC,  ///< two halves of b become two bytes, the rest from c
  kPackAbMergeC    ///< a and b become two bytes, the rest from c
};

/// Modifiers of floating-point and conversion instructions.
struct FloatForm {
  bool ftz = false, saturate = false;
  Rounding rounding = Rounding::kNearest;
  Compare compare = Compare::kF;
  Combine combine = Combine::kAnd;
  std::uint8_t function = 0;  ///< MUFU: 0 COS, 1 SIN, 2 EX2, 3 LG2, 4 RCP, 5 RSQ, 6 RCP64H, 7 RSQ64H, 8 SQRT, 9 TANH
  std::uint8_t from_bits = 32, to_bits = 32;                       ///< integer side of conversions
  bool from_signed = false, to_signed = false;                     ///< integer side of conversions
  FloatFormat from = FloatFormat::kNone, to = FloatFormat::kNone;  ///< float side of conversions; MUFU: of the value
  bool nan_to_zero = false;                                        ///< F2I .NTZ
  bool bf16 = false;                                               ///< half instructions: .BF16_V2
  bool mma = false;                                                ///< HFMA2.MMA: only another unit
  bool f32_sum = false;                                            ///< HADD2.F32: one half (of b) converted to float
  bool relu = false;
  bool negate_high = false;  ///< HFMA2: .H0_NH1 of source b: its high half is negated
  bool finite = false;       ///< F2FP .SATFINITE
  Packing packing = Packing::kPackAb;
  std::int8_t scale = 0;       ///< FMUL: the product is multiplied by 2^scale before rounding
  bool boolean_float = false;  ///< FSET, HSET2 .BF: 1.0 instead of all ones
  bool nan = false;            ///< FMNMX, HMNMX2 .NAN: not-a-number wins
  bool xor_sign = false;       ///< FMNMX, HMNMX2 .XORSIGN
  bool both_halves = false;    ///< HSETP2 .H_AND
};

/// Modifiers of memory, texture, synchronisation and control instructions. What the fields mean for an opcode is told
/// at the top of the file that decodes it: memory.cc, atomics.cc, control.cc, texture.cc, async.cc, tensor.cc.
struct MemoryForm {
  std::uint8_t bytes = 4;     ///< per lane: 1, 2, 4, 8 or 16
  bool is_signed = false;     ///< loads of 1 and 2 bytes
  bool extended = false;      ///< .E: addresses have 64 bits
  bool address_64 = false;    ///< the address register is a pair (base.words is 2 then)
  std::int32_t offset = 0;    ///< immediate, bytes
  Operand base;               ///< register with the address, often kRz; kNone where there is no address
  Operand uniform;            ///< uniform register added to it; kNone when there is none
  bool uniform_64 = false;    ///< it is a pair (uniform.words is 2 then)
  Operand descriptor;         ///< uniform register pair with a memory descriptor: NOT part of the address
  std::uint8_t scale = 0;     ///< shared memory: base is multiplied by 1 << scale (.X4, .X8, .X16)
  bool constant = false;      ///< .CONSTANT (ld.global.nc)
  std::uint8_t strength = 0;  ///< 0 weak, 1 .CONSTANT, 2 .STRONG, 3 .MMIO; scope in `scope`
  std::uint8_t scope = 0;     ///< 0 CTA, 1 SM, 2 GPU, 3 SYS; .STRONG.SM is what ptxas writes for .cta
  std::uint8_t eviction = 1;  ///< 0 .EF first, 1 normal, 2 .EL last, 3 .LU last use, 4 .EU unchanged, 5 .NA no allocate
  std::uint8_t atomic = 0;    ///< 0 ADD, 1 MIN, 2 MAX, 3 INC, 4 DEC, 5 AND, 6 OR, 7 XOR, 8 EXCH, 9 CAS, 10 POPC.INC
  std::uint8_t type = 0;      ///< of atomics: 0 U32, 1 S32, 2 U64, 3 S64, 4 F32, 5 F64, 6 F16x2, 7 BF16x2, 8 B128
  std::uint8_t vector = 1;    ///< of atomics: how many values of that type in a row (F32x4: 4, F16x8: 4 of F16x2)
  bool ftz = false;           ///< of atomics: .FTZ
  bool spin = false;          ///< CAST.SPIN: the result is 1 where the value was swapped, 0 elsewhere
  std::uint8_t mode = 0;      ///< what one number selects: BAR operation, LDSM form, LDC index mode, texture lod ...
  std::uint8_t dimensions = 0;   ///< textures: 1, 2, 3, 4 (cube); +8 for arrays
  std::uint8_t components = 0;   ///< textures: mask of result components
  std::int64_t target = -1;      ///< branches, calls, BSSY: byte offset in the code section; -1 none
  std::uint8_t barrier = 0;      ///< BAR: number when immediate
  std::uint32_t form = 0;        ///< the 12 opcode bits
  std::uint32_t modifiers = 0;   ///< bits 64 to 95 of the word: what is only printed is taken from here
  std::uint32_t modifiers2 = 0;  ///< bits 32 to 63 of the word, for the same
  Operand dst2;                  ///< textures: register of the third and fourth component; kNone without
  Operand second;  ///< LDGSTS: register of the shared address; TMA: second address; sparse matrices: metadata
  std::int32_t second_offset = 0;  ///< LDGSTS: offset of the shared address; sparse matrices: selector
  bool texel_offset = false;       ///< textures: .AOFFI, source b has an offset in texels
  bool depth_compare = false;      ///< textures: .DC
  bool multisample = false;        ///< textures: .MS
};

/// What the words of an instruction mean differs in one thing: where branches keep their distance.
enum class Encoding : std::uint8_t {
  kAmpere,  ///< compute capability 7.0 to 8.9
  kHopper,  ///< 9.0
};

struct Instruction {
  Opcode opcode = Opcode::kInvalid;
  Encoding encoding = Encoding::kHopper;
  std::uint32_t pc = 0;  ///< byte offset in its code section
  Operand guard;         ///< kNone: always
  Operand dst;           ///< register result; `words` says how many registers
  Operand pdst0, pdst1;  ///< predicate results, in the order of the text
  Operand a, b, c;       ///< value sources, in the order of the text
  Operand p0, p1;        ///< predicate sources, in the order of the text
  IntegerForm integer;
  FloatForm floating;
  MemoryForm memory;
};

/// The mnemonic without modifiers: "IMAD".
const char* name(Opcode opcode);

/// Decodes the instruction at byte `pc` of a code section, as GPUs of that `encoding` do. Opcode kInvalid when the form is not known; never fails
/// otherwise, whatever the bits are.
Instruction decode(const Word& word, std::uint32_t pc, Encoding encoding = Encoding::kHopper);

/// As the disassembler writes it, without .reuse and scheduling: "@!P0 IADD3 R2, R4, 0x10, RZ".
std::string text(const Instruction& instruction);

}  // namespace muscope::sass
