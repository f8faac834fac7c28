// Loads and stores with cache operators; address spaces.
// PTX: ld.global.nc.v4
// PTX: ld.global.cg.f32
// PTX: ld.global.cs.v4.s32
// PTX: ld.global.cv.u8
// PTX: st.global.wt.v2.f64
// PTX: st.global.cs.u16
// PTX: isspacep.shared
__global__ void memory(float* f, float4* f4, int4* i4, double2* d2, unsigned char* b, unsigned short* h, char4* c4,
                       size_t* out) {
  __shared__ int tile[4];
  f[0] = __ldg(f + 1) + __ldcg(f + 2) + __ldca(f + 3) + __ldlu(f + 4);
  f4[0] = __ldg(f4 + 1);
  i4[0] = __ldcs(i4 + 1);
  b[0] = __ldcv(b + 1) + __ldg(b + 2);
  c4[0] = __ldg(c4 + 1);
  __stwt(d2, d2[1]);
  __stcs(h, h[1]);
  __stcg(f, f[3]);
  __stwb(b, b[4]);
  out[0] = __isShared(out[1] ? (void*)tile : (void*)f) + __isGlobal(f) + __cvta_generic_to_shared(tile + out[2]);
}
