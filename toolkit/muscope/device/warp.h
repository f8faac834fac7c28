// Warp-wide functions: shuffles, votes, match, reductions; PTX ISA shfl.sync, vote.sync, match.sync, redux.sync.
#ifndef MUSCOPE_DEVICE_WARP_H
#define MUSCOPE_DEVICE_WARP_H

#include "../../host_defines.h"

// The clamp operand of shfl.sync: segment mask in bits 8 to 12, last lane of a segment (0 for "up") in bits 0 to 4.
#define MUSCOPE_SEGMENT(width, last) (((warpSize - (width)) << 8) | (last))

#define MUSCOPE_SHUFFLE(name, mode, last, lane_type)                                                                 \
  MUSCOPE_DEVICE int name(unsigned mask, int value, lane_type lane, int width = warpSize) {                          \
    return __nvvm_shfl_sync_##mode##_i32(mask, value, lane, MUSCOPE_SEGMENT(width, last));                           \
  }                                                                                                                  \
  MUSCOPE_DEVICE float name(unsigned mask, float value, lane_type lane, int width = warpSize) {                      \
    return __nvvm_shfl_sync_##mode##_f32(mask, value, lane, MUSCOPE_SEGMENT(width, last));                           \
  }                                                                                                                  \
  MUSCOPE_DEVICE unsigned name(unsigned mask, unsigned value, lane_type lane, int width = warpSize) {                \
    return (unsigned)name(mask, (int)value, lane, width);                                                            \
  }                                                                                                                  \
  MUSCOPE_DEVICE unsigned long long name(unsigned mask, unsigned long long value, lane_type lane,                    \
                                         int width = warpSize) {                                                     \
    const unsigned low = name(mask, (unsigned)value, lane, width);                                                   \
    const unsigned high = name(mask, (unsigned)(value >> 32), lane, width);                                          \
    return (unsigned long long)high << 32 | low;                                                                     \
  }                                                                                                                  \
  MUSCOPE_DEVICE long long name(unsigned mask, long long value, lane_type lane, int width = warpSize) {              \
    return (long long)name(mask, (unsigned long long)value, lane, width);                                            \
  }                                                                                                                  \
  MUSCOPE_DEVICE long name(unsigned mask, long value, lane_type lane, int width = warpSize) {                        \
    return (long)name(mask, (unsigned long long)value, lane, width);                                                 \
  }                                                                                                                  \
  MUSCOPE_DEVICE unsigned long name(unsigned mask, unsigned long value, lane_type lane, int width = warpSize) {      \
    return (unsigned long)name(mask, (unsigned long long)value, lane, width);                                        \
  }                                                                                                                  \
  MUSCOPE_DEVICE double name(unsigned mask, double value, lane_type lane, int width = warpSize) {                    \
    return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(unsigned long long, value), lane, width));       \
  }

MUSCOPE_SHUFFLE(__shfl_sync, idx, 0x1f, int)
MUSCOPE_SHUFFLE(__shfl_up_sync, up, 0, unsigned)
MUSCOPE_SHUFFLE(__shfl_down_sync, down, 0x1f, unsigned)
MUSCOPE_SHUFFLE(__shfl_xor_sync, bfly, 0x1f, int)
#undef MUSCOPE_SHUFFLE

MUSCOPE_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
MUSCOPE_DEVICE void __barrier_sync(unsigned id) { __nvvm_barrier_sync(id); }
MUSCOPE_DEVICE void __barrier_sync_count(unsigned id, unsigned count) { __nvvm_barrier_sync_cnt(id, count); }

MUSCOPE_DEVICE int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
MUSCOPE_DEVICE int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
MUSCOPE_DEVICE int __uni_sync(unsigned mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
MUSCOPE_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }
MUSCOPE_DEVICE unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
  return mask;
}
MUSCOPE_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) { return __nvvm_fns(mask, base, offset); }

#define MUSCOPE_MATCH(type, bits, suffix)                                                                   \
  MUSCOPE_DEVICE unsigned __match_any_sync(unsigned mask, type value) {                                     \
    return __nvvm_match_any_sync_i##suffix(mask, __builtin_bit_cast(bits, value));                          \
  }                                                                                                         \
  MUSCOPE_DEVICE unsigned __match_all_sync(unsigned mask, type value, int* all) {                           \
    return __nvvm_match_all_sync_i##suffix##p(mask, __builtin_bit_cast(bits, value), all);                  \
  }
MUSCOPE_MATCH(int, unsigned, 32)
MUSCOPE_MATCH(unsigned, unsigned, 32)
MUSCOPE_MATCH(float, unsigned, 32)
MUSCOPE_MATCH(long, unsigned long, 64)
MUSCOPE_MATCH(unsigned long, unsigned long, 64)
MUSCOPE_MATCH(long long, unsigned long, 64)
MUSCOPE_MATCH(unsigned long long, unsigned long, 64)
MUSCOPE_MATCH(double, unsigned long, 64)
#undef MUSCOPE_MATCH

// By assembly: clang's builtins for redux swapped their operands between versions.
#define MUSCOPE_REDUX(name, op, type)                                                                       \
  MUSCOPE_DEVICE type name(unsigned mask, type value) {                                                     \
    type result;                                                                                            \
    asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask) : "memory");        \
    return result;                                                                                          \
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MUSCOPE_REDUX(__reduce_add_sync, "add.u32", unsigned)
MUSCOPE_REDUX(__reduce_add_sync, "add.s32", int)
MUSCOPE_REDUX(__reduce_min_sync, "min.u32", unsigned)
MUSCOPE_REDUX(__reduce_min_sync, "min.s32", int)
MUSCOPE_REDUX(__reduce_max_sync, "max.u32", unsigned)
MUSCOPE_REDUX(__reduce_max_sync, "max.s32", int)
MUSCOPE_REDUX(__reduce_and_sync, "and.b32", unsigned)
MUSCOPE_REDUX(__reduce_or_sync, "or.b32", unsigned)
MUSCOPE_REDUX(__reduce_xor_sync, "xor.b32", unsigned)
#endif
#undef MUSCOPE_REDUX

// The forms without a mask, gone since CUDA 9's successors for Volta, run with every lane taking part.
#define MUSCOPE_OLD_SHUFFLE(name, lane_type)                                     \
  template <class T>                                                             \
  MUSCOPE_DEVICE T name(T value, lane_type lane, int width = warpSize) {         \
    return name##_sync(0xffffffffu, value, lane, width);                         \
  }
MUSCOPE_OLD_SHUFFLE(__shfl, int)
MUSCOPE_OLD_SHUFFLE(__shfl_up, unsigned)
MUSCOPE_OLD_SHUFFLE(__shfl_down, unsigned)
MUSCOPE_OLD_SHUFFLE(__shfl_xor, int)
#undef MUSCOPE_OLD_SHUFFLE

#endif
