// Every function of <cmath> and CUDA's own, both precisions, and the fast ones.
// PTX: ex2.approx
// PTX: lg2.approx.f32
// PTX: sin.approx.f32
// PTX: div.approx.f32
// PTX: rsqrt.approx.f32
// PTX: add.rm.f32
// PTX: cvt.rni.s32.f32
// NO PTX: __nv_
// NO PTX: vadd2
#include <cmath>

#define BOTH(name) f += name##f(f), d += name(d);

__global__ void one_argument(float* of, double* od) {
  float f = of[0];
  double d = od[0];
  // clang-format off: macros that end their statements themselves
  BOTH(sin)
  BOTH(cos)
  BOTH(tan)
  BOTH(asin) BOTH(acos) BOTH(atan) BOTH(sinh) BOTH(cosh) BOTH(tanh) BOTH(asinh) BOTH(acosh) BOTH(atanh) BOTH(exp)
      BOTH(exp2) BOTH(exp10) BOTH(expm1) BOTH(log) BOTH(log2) BOTH(log10) BOTH(log1p) BOTH(sqrt) BOTH(rsqrt) BOTH(cbrt)
          BOTH(rcbrt) BOTH(erf) BOTH(erfc) BOTH(sinpi) BOTH(cospi) BOTH(floor) BOTH(ceil) BOTH(trunc) BOTH(rint)
              BOTH(round) BOTH(nearbyint) BOTH(fabs) BOTH(logb) of[0] = f;
  od[0] = d;
}
__global__ void special(float* of, double* od) {
  float f = of[0];
  double d = od[0];
  BOTH(erfcx)
  BOTH(erfinv)
  BOTH(erfcinv)
  BOTH(normcdf) BOTH(normcdfinv) BOTH(lgamma) BOTH(tgamma) BOTH(j0) BOTH(y1) BOTH(cyl_bessel_i0) BOTH(cyl_bessel_i1)
      // clang-format on
      f += jnf(3, f) + ynf(2, f);
  d += jn(3, d) + yn(2, d);
  of[0] = f;
  od[0] = d;
}
__global__ void more(float* of, double* od, int* oi, long long* ol) {
  float f = of[0], s, c;
  double d = od[0], ds, dc;
  int i = oi[0], e;
  long long l = ol[0];
  f += powf(f, 2) + atan2f(f, 3) + fmodf(f, 2) + remainderf(f, 3) + hypotf(f, 2) + fmaxf(f, 3) + fdimf(f, 2);
  d += pow(d, 2) + atan2(d, 3) + fmod(d, 2) + remainder(d, 3) + hypot(d, 2) + fmin(d, 3) + copysign(d, 2);
  f += ldexpf(f, 3) + norm3df(f, f, f) + rnorm4df(f, f, f, f) + rhypotf(f, f) + normf(3, of) + fmaf(f, f, f);
  sincosf(f, &s, &c);
  sincospi(d, &ds, &dc);
  f += s + c + frexpf(f, &e) + e + modff(f, &s) + remquof(f, 3, &e) + scalbnf(f, 2) + nextafterf(f, 2);
  d += ds + dc + frexp(d, &e) + e + std::abs(d) + std::pow(d, 2) + std::sqrt(f) + std::max(d, 2.0);
  i += ilogbf(f) + lrintf(f) + (int)llround(d) + isnan(f) + isinf(d) + isfinite(f) + signbit(d) + min(i, 3) + abs(i);
  f += __expf(f) + __logf(f) + __sinf(f) + __cosf(f) + __tanf(f) + __powf(f, 2) + __fdividef(f, 3) + __saturatef(f);
  f += __fadd_rd(f, 1) + __fmul_rz(f, 3) + __fmaf_ru(f, f, f) + __frcp_rn(f) + __fsqrt_rn(f) + __frsqrt_rn(f);
  d += __dadd_rd(d, 1) + __fma_ru(d, d, d) + __ddiv_rn(d, 3) + __hiloint2double(i, i) + __longlong_as_double(l);
  i += __float2int_rn(f) + __double2int_rz(d) + __float_as_int(f) + __double2hiint(d) + __clz(i) + __ffs(i);
  i += __mulhi(i, 3) + __umulhi(i, 3) + __byte_perm(i, i, 0x1032) + __sad(i, 3, 4) + __hadd(i, 3) + __mul24(i, i);
  i += __funnelshift_l(i, i, 3) + __dp4a(i, i, i) + __vadd2(i, i) + __brev(i) + __popc(i);
  l += __float2ll_rn(f) + __mul64hi(l, 3) + llmax(l, 3) + __brevll(l) + __clzll(l) + __popcll(l) + llabs(l);
  of[0] = f + max(1.0, f) + min(2u, 3);
  od[0] = d;
  oi[0] = i;
  ol[0] = l;
}

int main() {
  return int(rsqrtf(4.f) + rcbrt(8.0) + sinpi(0.5) + normcdf(0.0) + norm3d(1, 2, 2)) + max(1, 2) + int(min(1.f, 2.0));
}
