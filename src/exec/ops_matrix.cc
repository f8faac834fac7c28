// Matrix multiplications of a warp: mma and wmma.mma of PTX, HMMA, IMMA, BMMA, DMMA of machine code; and the
// transposition of 8 x 8 halves (movmatrix, MOVM).
//
// Where PTX has registers in any order, in Op::list as d, a, b, c, machine code has them in a row. Lanes that do not
// run take part with what their registers hold; only the running ones get results (the manual leaves that open).
#include "exec/matrix_math.h"
#include "exec/op_table.h"
#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using code::MatrixForm;
using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;

template <bool kPtx>
MatrixForm form_of(const XOp* op) {
  if constexpr (kPtx) return MatrixForm::unpack(op->source->matrix);
  return *code::matrix_form(*op->sass);
}

enum Fragment : unsigned { kA, kB, kC };

/// Registers of one product in Op::list.
unsigned registers_of(const MatrixForm& form) {
  return form.a_registers() + form.b_registers() + 2 * form.c_registers();
}

/// The registers of a fragment, of 32 bits each.
struct Words {
  const uint32_t* at[kRows];
};

template <bool kPtx>
Words words_of(const Warp& w, const XOp* op, const MatrixForm& form, unsigned block, Fragment fragment) {
  const unsigned counts[] = {form.a_registers(), form.b_registers(), form.c_registers()};
  const uint32_t places[] = {op->a, op->b, op->c};
  Words words;
  unsigned first = block * registers_of(form) + counts[kC];
  for (unsigned f = kA; f < fragment; ++f) first += counts[f];
  for (unsigned r = 0; r < counts[fragment]; ++r)
    words.at[r] =
        kPtx ? w.src<uint32_t>(op->source->list[first + r].bits) : w.src<uint32_t>(places[fragment]) + r * kGroupLanes;
  return words;
}

/// Register `r` of the result; null when nobody reads it.
template <bool kPtx, typename T>
T* result_of(Warp& w, const XOp* op, unsigned list_index, unsigned r) {
  if constexpr (!kPtx) return w.dst<T>(op->dst) + r * kGroupLanes;
  const code::Place place = op->source->list[list_index + r];
  return place.exists() ? w.dst<T>(place.bits) : nullptr;
}

// ---- floating point

/// Bits of the elements, in rows of kMostFloats (A) or of kColumns (B, C).
struct RawTile {
  alignas(64) uint32_t a[kRows * kMostFloats];
  alignas(64) uint32_t b[kMostFloats * kColumns];
  alignas(64) uint32_t c[kRows * kColumns], d[kRows * kColumns];
};

/// put(row, k, word, element) for every element of A. Where the others of a register are follows from the first one.
template <unsigned kElements, typename Put>
[[gnu::always_inline]] inline void each_of_a(const Words& a, const MatrixForm& form, Put put) {
  for (unsigned r = 0; r < form.a_registers(); ++r) {
    const MatrixPlace first = place_in_a(0, r, 0, kElements, form.rows);
    for (unsigned l = 0; l < kGroupLanes; ++l)
      for (unsigned i = 0; i < kElements; ++i)
        put(first.row + l / 4, first.column + l % 4 * kElements + i, a.at[r][l], i);
  }
}
template <unsigned kElements, typename Put>
[[gnu::always_inline]] inline void each_of_b(const Words& b, const MatrixForm& form, Put put) {
  for (unsigned r = 0; r < form.b_registers(); ++r) {
    const MatrixPlace first = place_in_b(0, r, 0, kElements);
    for (unsigned l = 0; l < kGroupLanes; ++l)
      for (unsigned i = 0; i < kElements; ++i) put(first.row + l % 4 * kElements + i, l / 4, b.at[r][l], i);
  }
}

template <unsigned kElements>
void gather_factors(const Words& a, const Words& b, const MatrixForm& form, RawTile& tile) {
  constexpr unsigned kBits = 32 / kElements;
  constexpr uint32_t kMask = kBits == 32 ? 0xffffffffu : (1u << kBits) - 1;
  each_of_a<kElements>(a, form, [&](unsigned row, unsigned k, uint32_t word, unsigned i) {
    tile.a[row * kMostFloats + k] = word >> (i * kBits) & kMask;
  });
  each_of_b<kElements>(b, form, [&](unsigned k, unsigned column, uint32_t word, unsigned i) {
    tile.b[k * kColumns + column] = word >> (i * kBits) & kMask;
  });
}

void gather_sums(const Words& c, const MatrixForm& form, uint32_t* out) {
  for (unsigned r = 0; r < form.c_registers(); ++r)
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      if (form.half) {
        const MatrixPlace p = place_in_half_c(l, r, 0);
        out[p.row * kColumns + p.column] = c.at[r][l] & 0xffffu;
        out[p.row * kColumns + p.column + 1] = c.at[r][l] >> 16;
      } else {
        const MatrixPlace p = place_in_c(l, r);
        out[p.row * kColumns + p.column] = c.at[r][l];
      }
    }
}

template <bool kPtx>
void scatter_sums(Warp& w, const XOp* op, const MatrixForm& form, unsigned block, const uint32_t* in) {
  for (unsigned r = 0; r < form.c_registers(); ++r) {
    uint32_t* d = result_of<kPtx, uint32_t>(w, op, block * registers_of(form), r);
    if (!d) continue;
    for_lanes(w, d, [=, &form](unsigned l) {
      const MatrixPlace p = form.half ? place_in_half_c(l, r, 0) : place_in_c(l, r);
      const uint32_t* at = in + p.row * kColumns + p.column;
      return form.half ? at[0] | at[1] << 16 : at[0];
    });
  }
}

template <Factor kFactor>
double value_of(uint32_t bits) {
  if constexpr (kFactor == Factor::kF16) return half_to_float(static_cast<std::uint16_t>(bits));
  if constexpr (kFactor == Factor::kBf16) return bfloat_to_float(static_cast<std::uint16_t>(bits));
  // Cut off to TF32; not-a-number stays what it is.
  const float v = std::bit_cast<float>(bits);
  return v != v ? v : std::bit_cast<float>(bits & 0xffffe000u);
}

template <bool kHalf>
double sum_value(uint32_t bits) {
  return kHalf ? half_to_float(static_cast<std::uint16_t>(bits)) : std::bit_cast<float>(bits);
}

/// tile.d = A B + C.
template <Factor kFactor, bool kHalf>
void multiply_floats(RawTile& tile, unsigned rows, unsigned k_size) {
  Significands a, b;
  uint32_t special = 0;
  // All of the tile, so that the loops have fixed lengths; what a smaller k leaves over is zero.
  for (unsigned n = 0; n < kRows * kMostFloats; ++n)
    special |= take_apart<kFactor>(tile.a[n], a.value[n], a.exponent[n]);
  for (unsigned n = 0; n < kMostFloats * kColumns; ++n)
    special |= take_apart<kFactor>(tile.b[n], b.value[n], b.exponent[n]);
  constexpr uint32_t kTop = kHalf ? 0x7c00u : 0x7f800000u;
  for (unsigned n = 0; n < rows * kColumns; ++n) special |= (tile.c[n] & kTop) == kTop;
  for (unsigned m = 0; m < rows; ++m)
    float_row<kFactor, kHalf>(a.value + m * kMostFloats, a.exponent + m * kMostFloats, b, k_size, tile.c + m * kColumns,
                              tile.d + m * kColumns);
  if (!special) return;
  for (unsigned m = 0; m < rows; ++m)
    for (unsigned n = 0; n < kColumns; ++n) {
      double sum = sum_value<kHalf>(tile.c[m * kColumns + n]);
      for (unsigned k = 0; k < k_size; ++k)
        sum += value_of<kFactor>(tile.a[m * kMostFloats + k]) * value_of<kFactor>(tile.b[k * kColumns + n]);
      special_sum(sum, kHalf, tile.d[m * kColumns + n]);
    }
}

/// Computes one product into `sums`, rows of kColumns.
using Compute = void (*)(const Warp&, const XOp*, const MatrixForm&, unsigned block, uint32_t* sums);

/// All products of the instruction, then all results: a result may take the place of a source.
template <Compute kCompute, bool kPtx>
const XOp* product(Warp& w, const XOp* op) {
  const MatrixForm form = form_of<kPtx>(op);
  alignas(64) uint32_t sums[2][kRows * kColumns];
  for (unsigned block = 0; block < form.blocks; ++block) kCompute(w, op, form, block, sums[block]);
  for (unsigned block = 0; block < form.blocks; ++block) scatter_sums<kPtx>(w, op, form, block, sums[block]);
  return op + 1;
}

template <Factor kFactor, bool kHalf, bool kPtx>
void float_sums(const Warp& w, const XOp* op, const MatrixForm& form, unsigned block, uint32_t* sums) {
  RawTile tile;
  if (form.k < kMostFloats) std::memset(&tile, 0, sizeof tile);
  gather_factors<per_register(kFactor)>(words_of<kPtx>(w, op, form, block, kA), words_of<kPtx>(w, op, form, block, kB),
                                        form, tile);
  gather_sums(words_of<kPtx>(w, op, form, block, kC), form, tile.c);
  multiply_floats<kFactor, kHalf>(tile, form.rows, form.k);
  std::memcpy(sums, tile.d, sizeof tile.d);
}

// ---- formats of 8 bits

/// A byte as a half, exact; not-a-number stays none.
uint32_t half_of_byte(uint32_t byte, Factor factor) {
  if (factor == Factor::kE5m2) return byte << 8;
  const uint32_t sign = (byte & 0x80u) << 8, rest = byte & 0x7fu;
  if (rest == 0x7f) return 0x7fffu;
  // E4M3's bias is 7 and that of halves 15; subnormal numbers are units of 2^-9.
  return sign | (rest >= 8 ? (rest << 7) + (8u << 10) : nearest_half(static_cast<float>(rest) * 0x1p-9f));
}

/// ptxas makes two products of halves out of one: of the first two of each four factors, starting from zero, then of
/// the others; c is added last (compiled by ptxas 13.0 for sm_90).
template <bool kHalf>
void byte_sums(const Warp& w, const XOp* op, const MatrixForm& form, unsigned block, uint32_t* sums) {
  const Words a = words_of<true>(w, op, form, block, kA), b = words_of<true>(w, op, form, block, kB);
  RawTile tile = {};
  alignas(64) uint32_t c[kRows * kColumns];
  gather_sums(words_of<true>(w, op, form, block, kC), form, c);
  for (unsigned part = 0; part < 2; ++part) {
    each_of_a<2>(a, form, [&](unsigned row, unsigned k, uint32_t word, unsigned i) {
      tile.a[row * kMostFloats + k] = half_of_byte(word >> (16 * part + 8 * i) & 0xffu, form.a);
    });
    each_of_b<2>(b, form, [&](unsigned k, unsigned column, uint32_t word, unsigned i) {
      tile.b[k * kColumns + column] = half_of_byte(word >> (16 * part + 8 * i) & 0xffu, form.b);
    });
    multiply_floats<Factor::kF16, kHalf>(tile, form.rows, form.k / 2u);
    std::memcpy(tile.c, tile.d, sizeof tile.c);
  }
  for (unsigned n = 0; n < form.rows * kColumns; ++n) {
    const float sum = static_cast<float>(sum_value<kHalf>(c[n])) + static_cast<float>(sum_value<kHalf>(tile.d[n]));
    sums[n] = kHalf ? nearest_half(sum) : sum != sum ? 0x7fffffffu : std::bit_cast<uint32_t>(sum);
  }
}

// ---- integers and bits

constexpr unsigned kMostIntegers = 64;

/// Element `i` of a word, extended with its sign or with zeros.
template <unsigned kBits>
[[gnu::always_inline]] inline int32_t integer_of(uint32_t word, unsigned i, bool is_signed) {
  const uint32_t top = word << (32 - kBits * (i + 1));
  return is_signed ? static_cast<int32_t>(top) >> (32 - kBits) : static_cast<int32_t>(top >> (32 - kBits));
}

template <unsigned kBits, bool kPtx>
void integer_sums(const Warp& w, const XOp* op, const MatrixForm& form, unsigned block, uint32_t* c) {
  alignas(64) int32_t a[kRows * kMostIntegers], b[kMostIntegers * kColumns];
  const bool a_signed = form.a == Factor::kS8 || form.a == Factor::kS4;
  const bool b_signed = form.b == Factor::kS8 || form.b == Factor::kS4;
  each_of_a<32 / kBits>(words_of<kPtx>(w, op, form, block, kA), form,
                        [&](unsigned row, unsigned k, uint32_t word, unsigned i) {
                          a[row * kMostIntegers + k] = integer_of<kBits>(word, i, a_signed);
                        });
  each_of_b<32 / kBits>(words_of<kPtx>(w, op, form, block, kB), form,
                        [&](unsigned k, unsigned column, uint32_t word, unsigned i) {
                          b[k * kColumns + column] = integer_of<kBits>(word, i, b_signed);
                        });
  gather_sums(words_of<kPtx>(w, op, form, block, kC), form, c);
  for (unsigned m = 0; m < form.rows; ++m) {
    alignas(64) int32_t sum[kColumns] = {};
    for (unsigned k = 0; k < form.k; ++k)
      for (unsigned n = 0; n < kColumns; ++n) sum[n] += a[m * kMostIntegers + k] * b[k * kColumns + n];
    for (unsigned n = 0; n < kColumns; ++n) {
      uint32_t& at = c[m * kColumns + n];
      at = integer_sum(sum[n], at, form.saturate);
    }
  }
}

template <bool kPtx>
void bit_sums(const Warp& w, const XOp* op, const MatrixForm& form, unsigned block, uint32_t* c) {
  const Words a = words_of<kPtx>(w, op, form, block, kA), b = words_of<kPtx>(w, op, form, block, kB);
  gather_sums(words_of<kPtx>(w, op, form, block, kC), form, c);
  // A register is one element of 32 bits of k here.
  constexpr unsigned kMostWords = 8;
  uint32_t words_a[kRows * kMostWords], words_b[kMostWords * kColumns];
  for (unsigned r = 0; r < form.a_registers(); ++r)
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      const MatrixPlace p = place_in_a(l, r, 0, 1, form.rows);
      words_a[p.row * kMostWords + p.column] = a.at[r][l];
    }
  for (unsigned r = 0; r < form.b_registers(); ++r)
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      const MatrixPlace p = place_in_b(l, r, 0, 1);
      words_b[p.row * kColumns + p.column] = b.at[r][l];
    }
  for (unsigned m = 0; m < form.rows; ++m)
    for (unsigned n = 0; n < kColumns; ++n)
      for (unsigned k = 0; k < form.k / 32u; ++k) {
        const uint32_t x = words_a[m * kMostWords + k], y = words_b[k * kColumns + n];
        c[m * kColumns + n] += static_cast<uint32_t>(std::popcount(form.exclusive ? x ^ y : x & y));
      }
}

// ---- doubles

template <bool kPtx>
double double_at(const Warp& w, const XOp* op, unsigned list_index, uint32_t place, unsigned r, unsigned l) {
  if constexpr (kPtx) return w.src<double>(op->source->list[list_index + r].bits)[l];
  const uint32_t* low = w.src<uint32_t>(place) + 2 * r * kGroupLanes;
  return std::bit_cast<double>(low[l] | uint64_t{low[l + kGroupLanes]} << 32);
}

/// One fused multiply-add after the other. Not-a-number results are the device's own.
template <bool kPtx>
const XOp* double_product(Warp& w, const XOp* op) {
  const MatrixForm form = form_of<kPtx>(op);
  const unsigned na = form.a_registers(), nb = form.b_registers(), nc = form.c_registers();
  double a[kRows * kRows], b[kRows * kColumns], c[kRows * kColumns];
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    for (unsigned r = 0; r < na; ++r) {
      const MatrixPlace p = place_in_a(l, r, 0, 1, form.rows);
      a[p.row * kRows + p.column] = double_at<kPtx>(w, op, nc, op->a, r, l);
    }
    for (unsigned r = 0; r < nb; ++r) {
      const MatrixPlace p = place_in_b(l, r, 0, 1);
      b[p.row * kColumns + p.column] = double_at<kPtx>(w, op, nc + na, op->b, r, l);
    }
    for (unsigned r = 0; r < nc; ++r) {
      const MatrixPlace p = place_in_c(l, r);
      c[p.row * kColumns + p.column] = double_at<kPtx>(w, op, nc + na + nb, op->c, r, l);
    }
  }
  for (unsigned m = 0; m < form.rows; ++m)
    for (unsigned n = 0; n < kColumns; ++n) {
      double& sum = c[m * kColumns + n];
      for (unsigned k = 0; k < form.k; ++k) sum = std::fma(a[m * kRows + k], b[k * kColumns + n], sum);
      if (sum != sum) sum = std::bit_cast<double>(0xfff8000000000000ull);
    }
  for (unsigned r = 0; r < nc; ++r) {
    const auto value = [&c, r](unsigned l) {
      const MatrixPlace p = place_in_c(l, r);
      return std::bit_cast<uint64_t>(c[p.row * kColumns + p.column]);
    };
    if constexpr (kPtx) {
      if (uint64_t* d = result_of<true, uint64_t>(w, op, 0, r)) for_lanes(w, d, value);
    } else {
      uint32_t* low = w.dst<uint32_t>(op->dst) + 2 * r * kGroupLanes;
      for_lanes(w, low, [&](unsigned l) { return static_cast<uint32_t>(value(l)); });
      for_lanes(w, low + kGroupLanes, [&](unsigned l) { return static_cast<uint32_t>(value(l) >> 32); });
    }
  }
  return op + 1;
}

// ---- transposition

const XOp* transpose(Warp& w, const XOp* op) {
  std::uint16_t matrix[8][8];
  const uint32_t* a = w.src<uint32_t>(op->a);
  for (unsigned l = 0; l < kGroupLanes; ++l)
    for (unsigned i = 0; i < 2; ++i) {
      const MatrixPlace p = place_in_half_c(l, 0, i);
      matrix[p.row][p.column] = static_cast<std::uint16_t>(a[l] >> (16 * i));
    }
  for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) {
    const MatrixPlace p = place_in_half_c(l, 0, 0);
    return uint32_t{matrix[p.column][p.row]} | uint32_t{matrix[p.column + 1][p.row]} << 16;
  });
  return op + 1;
}

template <bool kPtx>
Handler product_handler(const MatrixForm& form) {
  switch (form.a) {
    case Factor::kF16:
      return form.half ? product<float_sums<Factor::kF16, true, kPtx>, kPtx>
                       : product<float_sums<Factor::kF16, false, kPtx>, kPtx>;
    case Factor::kBf16:
      return product<float_sums<Factor::kBf16, false, kPtx>, kPtx>;
    case Factor::kTf32:
      return product<float_sums<Factor::kTf32, false, kPtx>, kPtx>;
    case Factor::kE4m3:
    case Factor::kE5m2:
      return !kPtx ? nullptr : form.half ? product<byte_sums<true>, true> : product<byte_sums<false>, true>;
    case Factor::kF64:
      return double_product<kPtx>;
    case Factor::kB1:
      return product<bit_sums<kPtx>, kPtx>;
    case Factor::kS4:
    case Factor::kU4:
      return product<integer_sums<4, kPtx>, kPtx>;
    case Factor::kS8:
    case Factor::kU8:
      return product<integer_sums<8, kPtx>, kPtx>;
  }
  return nullptr;
}

}  // namespace

Handler find_matrix(const code::Op& op) {
  if (op.opcode == ptx::Opcode::k_movmatrix) return transpose;
  return op.opcode == ptx::Opcode::k_mma ? product_handler<true>(MatrixForm::unpack(op.matrix)) : nullptr;
}

Handler find_sass_matrix(const sass::Instruction& i) {
  if (i.opcode == sass::Opcode::kMOVM) return transpose;
  const auto form = code::matrix_form(i);
  return form ? product_handler<false>(*form) : nullptr;
}

}  // namespace muscope::exec::MUSCOPE_ISA
