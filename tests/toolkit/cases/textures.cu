// Textures and surfaces.
// PTX: tex.1d.v4.f32.s32
// PTX: tex.2d.v4.f32.f32
// PTX: tex.3d.v4.f32.f32
// PTX: tex.a2d.v4.f32.f32
// PTX: tex.level.2d.v4.f32.f32
// PTX: tex.grad.2d.v4.f32.f32
// PTX: tld4.g.2d.v4.f32.f32
// PTX: tex.2d.v4.u32.f32
// PTX: suld.b.2d.b32.trap
// PTX: suld.b.2d.v4.b32.zero
// PTX: sust.b.2d.b32.trap
#include <texture_fetch_functions.h>

__global__ void fetch(cudaTextureObject_t t, cudaSurfaceObject_t s, float* f, float4* f4, uchar4* c, int2* i2) {
  f[0] = tex1Dfetch<float>(t, 1) + tex1D<float>(t, 0.5f) + tex2D<float>(t, 1, 2) + tex3D<float>(t, 1, 2, 3) +
         tex2DLayered<float>(t, 1, 2, 3) + tex1DLayered<float>(t, 1, 2) + texCubemap<float>(t, 1, 2, 3);
  f[1] = tex2DLod<float>(t, 1, 2, 0) + tex2DGrad<float>(t, 1, 2, make_float2(1, 0), make_float2(0, 1));
  tex2D(f + 2, t, 3.f, 4.f);
  f4[0] = tex2D<float4>(t, 1, 2);
  f4[1] = tex2Dgather<float4>(t, 1, 2, 1);
  c[0] = tex2D<uchar4>(t, 1, 2);
  i2[0] = tex1Dfetch<int2>(t, 5);
  f[3] = surf2Dread<float>(s, 4, 5);
  f4[2] = surf2Dread<float4>(s, 16, 5, cudaBoundaryModeZero);
  surf2Dwrite(f[4], s, 4, 5);
  surf3Dwrite(c[1], s, 4, 5, 6);
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 16, 16);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = cudaAddressModeClamp;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t object;
  return cudaCreateTextureObject(&object, &resource, &description, nullptr);
}
