// What a matrix multiplication of one warp computes (mma, wmma.mma, HMMA, IMMA, BMMA, DMMA): D = A B + C with B of
// eight columns. PTX and machine code lower to the same forms; exec/ops_matrix.cc executes them.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/module.h"
#include "sass/instruction.h"

namespace muscope::code {

/// Formats of factors.
enum class Factor : std::uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2, kF64, kS8, kU8, kS4, kU4, kB1 };

constexpr unsigned bits_of(Factor factor) {
  switch (factor) {
    case Factor::kF16:
    case Factor::kBf16:
      return 16;
    case Factor::kTf32:
      return 32;
    case Factor::kF64:
      return 64;
    case Factor::kS4:
    case Factor::kU4:
      return 4;
    case Factor::kB1:
      return 1;
    default:
      return 8;
  }
}

struct MatrixForm {
  Factor a = Factor::kF16, b = Factor::kF16;
  std::uint16_t rows = 16, k = 16;
  bool half = false;       ///< C and D are F16
  bool saturate = false;   ///< integer sums
  bool exclusive = false;  ///< bits: popcount of a xor b, not of a and b
  /// Products of this form that the instruction does: 2 for most of wmma. Each has d, a, b, c in Op::list.
  std::uint8_t blocks = 1;

  /// Registers of a fragment: of 32 bits, or of 64 for F64.
  constexpr unsigned a_registers() const { return rows * k / 32u * bits_of(a) / register_bits(); }
  constexpr unsigned b_registers() const { return 8u * k * bits_of(b) / 32u / register_bits(); }
  constexpr unsigned c_registers() const { return rows * 8u / 32u / (half ? 2u : 1u); }
  constexpr unsigned register_bits() const { return a == Factor::kF64 ? 64 : 32; }

  /// For Op::matrix.
  constexpr std::int64_t pack() const {
    return static_cast<std::int64_t>(a) | static_cast<std::int64_t>(b) << 4 | std::int64_t{rows} << 8 |
           std::int64_t{k} << 16 | std::int64_t{half} << 32 | std::int64_t{saturate} << 33 |
           std::int64_t{exclusive} << 34 | std::int64_t{blocks} << 35;
  }
  static constexpr MatrixForm unpack(std::int64_t bits) {
    MatrixForm form;
    form.a = static_cast<Factor>(bits & 15), form.b = static_cast<Factor>(bits >> 4 & 15);
    form.rows = static_cast<std::uint16_t>(bits >> 8 & 0xff), form.k = static_cast<std::uint16_t>(bits >> 16);
    form.blocks = static_cast<std::uint8_t>(bits >> 35 & 3);
    form.half = (bits >> 32 & 1) != 0, form.saturate = (bits >> 33 & 1) != 0, form.exclusive = (bits >> 34 & 1) != 0;
    return form;
  }
};

/// A fragment of wmma. How its registers map to the matrix is not documented; it is what ptxas 13.0 makes of
/// wmma.load for sm_90 (found by executing that code): the fragments of one or two mma side by side, those of m8n32k16
/// for the transposed product (D^T = B^T A^T). Of the eight registers of F16 factors the last ones repeat the first.
struct FragmentForm {
  enum Matrix : std::uint8_t { kA, kB, kC };
  Matrix matrix = kA;
  std::uint8_t rows = 16, columns = 16;  ///< of D
  std::uint8_t k = 16;
  std::uint8_t bits = 16;  ///< of an element
  std::uint8_t registers = 8;
  bool by_columns = false;  ///< how the matrix lies in memory

  bool transposed() const { return rows == 8 && columns == 32; }
  /// Registers with elements of their own.
  constexpr unsigned distinct() const {
    const unsigned elements = matrix == kA ? rows * k : matrix == kB ? k * columns : rows * columns;
    return elements * bits / 32 / (bits == 64 ? 64 : 32);
  }
  constexpr std::int64_t pack() const {
    return static_cast<std::int64_t>(matrix) | std::int64_t{rows} << 8 | std::int64_t{columns} << 16 |
           std::int64_t{k} << 24 | std::int64_t{bits} << 32 | std::int64_t{registers} << 40 |
           std::int64_t{by_columns} << 48;
  }
  static constexpr FragmentForm unpack(std::int64_t v) {
    const auto byte = [v](int n) { return static_cast<std::uint8_t>(v >> (8 * n)); };
    return {static_cast<Matrix>(byte(0)), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6) != 0};
  }
};

/// The form of an HMMA, IMMA, BMMA or DMMA; none for sparse factors and forms whose meaning is not known.
std::optional<MatrixForm> matrix_form(const sass::Instruction& instruction);

/// The form of `mma.sync`, or of the products that wmma.mma is made of; none where compute capability 9.0 has none or
/// its layout is another one (m8n8k4 of F16).
std::optional<MatrixForm> matrix_form(const ptx::Instruction& instruction);

}  // namespace muscope::code
