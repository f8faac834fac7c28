// PTX and printing for driver_api.cc.
#pragma once

#include <cuda.h>

#include <cstdio>

// add: p[i] += k for i < n. store: one value. shares: dynamic shared memory. grid: blocks count themselves. reads a
// texture.
inline const char kPtx[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .const .align 4 .u32 table[4] = {10, 20, 30, 40};
.extern .shared .align 16 .b8 pool[];
.visible .entry add(.param .u64 p, .param .u32 n, .param .f32 k) {
  .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .pred %p1;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [k];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1; @%p1 bra done;
  mul.wide.u32 %rd2, %r5, 4; cvta.to.global.u64 %rd1, %rd1; add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; add.f32 %f2, %f2, %f1; st.global.f32 [%rd3], %f2;
done: ret;
}
.visible .entry store(.param .u64 p, .param .u32 v) .maxntid 128, 1, 1 {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; cvta.to.global.u64 %rd1, %rd1;
  ld.const.u32 %r2, [table + 8]; add.u32 %r1, %r1, %r2; ld.global.u32 %r3, [counter]; add.u32 %r1, %r1, %r3;
  st.global.u32 [%rd1], %r1; ret;
}
.visible .entry shares(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<5>; .shared .align 4 .b8 fixed[1024];
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;
  mov.u32 %r3, pool; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1; st.shared.u32 [fixed], %r1; bar.sync 0;
  ld.shared.u32 %r4, [%r3]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r4; ret;
}
.visible .entry sample(.param .u64 t, .param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .f32 %f<6>;
  ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [p]; cvta.to.global.u64 %rd2, %rd2; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;
  cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2; tex.2d.v4.f32.f32 {%f1, %f3, %f4, %f5}, [%rd1, {%f1, %f2}];
  mad.lo.u32 %r1, %r2, 4, %r1; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3; st.global.f32 [%rd2], %f1; ret;
}
.visible .entry nothing() { ret; }
.visible .entry fails() { trap; ret; }
)";

inline const char kCaller[] = R"(
.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry run(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; ld.global.u32 %r1, [%rd2];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), twice, (a); ld.param.b32 %r2, [b]; }
  st.global.u32 [%rd2], %r2; ret;
}
)";

inline const char kCallee[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret;
}
)";

inline const char kWrong[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry wrong(.param .u64 p) {
  .reg .b32 %r<2>;
  mov.u32 %r1, %nobody;
  ret;
}
)";

inline const char* group = "";

// The fourth form of cuCtxCreate came with CUDA 13.
#if CUDA_VERSION >= 13000
#define CREATE(context, flags, device) cuCtxCreate(context, nullptr, flags, device)
#else
#define CREATE(context, flags, device) cuCtxCreate(context, flags, device)
#endif

// What groups share.
inline CUcontext context;
inline CUmodule module;
inline CUfunction add, store, shares, nothing;
inline void* const kNobody = reinterpret_cast<void*>(0x1230);

#define R(call)                                         \
  do {                                                  \
    const int code = static_cast<int>(call);            \
    std::printf("%s | %s -> %d\n", group, #call, code); \
    std::fflush(stdout);                                \
  } while (0)
#define V(value) std::printf("%s | %s = %lld\n", group, #value, static_cast<long long>(value))
