// Where the elements of matrix fragments live: lane, register and place in the register.
//
// Source: PTX ISA, "Matrix fragments for mma" of each shape; all of them follow one rule. Lanes form eight groups g of
// four, t is the lane's number in its group. A register holds n elements side by side (n = 32 / bits; 64-bit values:
// 1).
//
//   A, rows by k:   register r, element i: row g + 8 (r mod rows/8),  k = t n + i + 4 n (r div rows/8)
//   B, k by 8:      register r, element i: k = t n + i + 4 n r,       column g
//   C, rows by 8:   32 and 64 bits: register r: row g + 8 (r div 2),  column 2 t + (r mod 2)
//                   16 bits: register r, element i: row g + 8 r,      column 2 t + i
//   8 x 8 of 16 bits (ldmatrix, stmatrix, movmatrix): register's element i: row g, column 2 t + i
#pragma once

#include <cstdint>

#include "code/matrix.h"

namespace muscope::exec {

using code::bits_of;
using code::Factor;

/// Elements side by side in a register.
constexpr unsigned per_register(Factor factor) { return bits_of(factor) >= 32 ? 1 : 32 / bits_of(factor); }

struct MatrixPlace {
  unsigned row = 0, column = 0;
};

constexpr MatrixPlace place_in_a(unsigned lane, unsigned reg, unsigned element, unsigned elements, unsigned rows) {
  const unsigned halves = rows / 8;
  return {lane / 4 + 8 * (reg % halves), lane % 4 * elements + element + 4 * elements * (reg / halves)};
}
constexpr MatrixPlace place_in_b(unsigned lane, unsigned reg, unsigned element, unsigned elements) {
  return {lane % 4 * elements + element + 4 * elements * reg, lane / 4};
}
constexpr MatrixPlace place_in_c(unsigned lane, unsigned reg) {
  return {lane / 4 + 8 * (reg / 2), lane % 4 * 2 + reg % 2};
}
constexpr MatrixPlace place_in_half_c(unsigned lane, unsigned reg, unsigned element) {
  return {lane / 4 + 8 * reg, lane % 4 * 2 + element};
}

/// Element `element` of register `reg` of a wmma fragment; register numbers beyond the distinct ones repeat.
inline MatrixPlace place_in_fragment(const code::FragmentForm& f, unsigned lane, unsigned reg, unsigned element) {
  using code::FragmentForm;
  const unsigned elements = f.bits >= 32 ? 1 : 32u / f.bits;
  const bool flip = f.transposed();
  const unsigned rows = flip ? 32 : f.rows, columns = flip ? 8 : f.columns;  // of the product that is done
  const unsigned tile_rows = rows < 16 ? rows : 16;
  const auto matrix = f.matrix == FragmentForm::kC || !flip ? f.matrix
                      : f.matrix == FragmentForm::kA        ? FragmentForm::kB
                                                            : FragmentForm::kA;
  reg %= f.distinct();
  MatrixPlace p;
  if (matrix == FragmentForm::kA) {
    const unsigned block = f.distinct() / (rows / tile_rows);
    p = place_in_a(lane, reg % block, element, elements, tile_rows);
    p.row += tile_rows * (reg / block);
  } else if (matrix == FragmentForm::kB) {
    const unsigned block = f.distinct() / (columns / 8);
    p = place_in_b(lane, reg % block, element, elements);
    p.column += 8 * (reg / block);
  } else {
    const unsigned block = f.distinct() / (rows / tile_rows * (columns / 8));
    p = f.bits == 16 ? place_in_half_c(lane, reg % block, element) : place_in_c(lane, reg % block);
    if (rows > 16)
      p.row += tile_rows * (reg / block);
    else
      p.column += 8 * (reg / block);
  }
  return flip ? MatrixPlace{p.column, p.row} : p;
}

}  // namespace muscope::exec
