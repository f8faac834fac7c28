// __nv_v*: what __vadd2() and its kin call. clang's headers hand out video instructions instead when they see a CUDA
// version from 9.2 on; device/clang_headers.h keeps them from that, since nvcc makes plain arithmetic of these functions.
#ifndef MUSCOPE_MATH_LIBDEVICE_SIMD_H
#define MUSCOPE_MATH_LIBDEVICE_SIMD_H

#include "libdevice.h"
#include "simd.h"

#define MUSCOPE_NV_LANES1(name, Op, Signed, Saturate)                                                            \
  MUSCOPE_NV int __nv_##name##2(int a) {                                                                         \
    return (int)muscope_math::lanes<muscope_math::Op, 16, Signed, Saturate>((unsigned)a, 0);                     \
  }                                                                                                              \
  MUSCOPE_NV int __nv_##name##4(int a) {                                                                         \
    return (int)muscope_math::lanes<muscope_math::Op, 8, Signed, Saturate>((unsigned)a, 0);                      \
  }
#define MUSCOPE_NV_LANES2(name, Op, Signed, Saturate)                                                            \
  MUSCOPE_NV int __nv_##name##2(int a, int b) {                                                                  \
    return (int)muscope_math::lanes<muscope_math::Op, 16, Signed, Saturate>((unsigned)a, (unsigned)b);           \
  }                                                                                                              \
  MUSCOPE_NV int __nv_##name##4(int a, int b) {                                                                  \
    return (int)muscope_math::lanes<muscope_math::Op, 8, Signed, Saturate>((unsigned)a, (unsigned)b);            \
  }
// vset gives 1 in a lane, vcmp all ones.
#define MUSCOPE_NV_COMPARE(name, Op, Signed)                                                                     \
  MUSCOPE_NV_LANES2(vset##name, Op, Signed, false)                                                               \
  MUSCOPE_NV int __nv_vcmp##name##2(int a, int b) { return (int)((unsigned)__nv_vset##name##2(a, b) * 0xffffu); } \
  MUSCOPE_NV int __nv_vcmp##name##4(int a, int b) { return (int)((unsigned)__nv_vset##name##4(a, b) * 0xffu); }

#define MUSCOPE_NV_WORD2(name, function)                                                                         \
  MUSCOPE_NV int __nv_##name##2(int a, int b) {                                                                  \
    return (int)muscope_math::function<16>((unsigned)a, (unsigned)b);                                            \
  }                                                                                                              \
  MUSCOPE_NV int __nv_##name##4(int a, int b) {                                                                  \
    return (int)muscope_math::function<8>((unsigned)a, (unsigned)b);                                             \
  }
MUSCOPE_NV_WORD2(vadd, lanes_add)
MUSCOPE_NV_WORD2(vsub, lanes_subtract)
#undef MUSCOPE_NV_WORD2

MUSCOPE_NV_LANES1(vabs, LaneAbs, true, false)
MUSCOPE_NV_LANES1(vabsss, LaneAbs, true, true)
MUSCOPE_NV_LANES1(vneg, LaneNegate, true, false)
MUSCOPE_NV_LANES1(vnegss, LaneNegate, true, true)
MUSCOPE_NV_LANES2(vaddss, LaneAdd, true, true)
MUSCOPE_NV_LANES2(vaddus, LaneAdd, false, true)
MUSCOPE_NV_LANES2(vsubss, LaneSubtract, true, true)
MUSCOPE_NV_LANES2(vsubus, LaneSubtract, false, true)
MUSCOPE_NV_LANES2(vabsdiffs, LaneDistance, true, false)
MUSCOPE_NV_LANES2(vabsdiffu, LaneDistance, false, false)
MUSCOPE_NV_LANES2(vavgs, LaneAverage, true, false)
MUSCOPE_NV_LANES2(vavgu, LaneAverage, false, false)
MUSCOPE_NV_LANES2(vhaddu, LaneHalfSum, false, false)
MUSCOPE_NV_LANES2(vmins, LaneMin, true, false)
MUSCOPE_NV_LANES2(vminu, LaneMin, false, false)
MUSCOPE_NV_LANES2(vmaxs, LaneMax, true, false)
MUSCOPE_NV_LANES2(vmaxu, LaneMax, false, false)
MUSCOPE_NV_COMPARE(eq, LaneEqual, false)
MUSCOPE_NV_COMPARE(ne, LaneUnequal, false)
MUSCOPE_NV_COMPARE(lts, LaneLess, true)
MUSCOPE_NV_COMPARE(ltu, LaneLess, false)
MUSCOPE_NV_COMPARE(les, LaneLessEqual, true)
MUSCOPE_NV_COMPARE(leu, LaneLessEqual, false)
MUSCOPE_NV_COMPARE(gts, LaneGreater, true)
MUSCOPE_NV_COMPARE(gtu, LaneGreater, false)
MUSCOPE_NV_COMPARE(ges, LaneGreaterEqual, true)
MUSCOPE_NV_COMPARE(geu, LaneGreaterEqual, false)

#define MUSCOPE_NV_SAD(name, Signed)                                                                              \
  MUSCOPE_NV int __nv_##name##2(int a, int b) {                                                                   \
    return (int)muscope_math::lanes_sad<16, Signed>((unsigned)a, (unsigned)b);                                    \
  }                                                                                                               \
  MUSCOPE_NV int __nv_##name##4(int a, int b) {                                                                   \
    return (int)muscope_math::lanes_sad<8, Signed>((unsigned)a, (unsigned)b);                                     \
  }
MUSCOPE_NV_SAD(vsads, true)
MUSCOPE_NV_SAD(vsadu, false)
#undef MUSCOPE_NV_SAD
#undef MUSCOPE_NV_COMPARE
#undef MUSCOPE_NV_LANES1
#undef MUSCOPE_NV_LANES2

#endif
