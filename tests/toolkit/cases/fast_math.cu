// nvcc's -use_fast_math: the functions of single precision become instructions.
// DEVICE FLAGS: -fgpu-approx-transcendentals -fgpu-flush-denormals-to-zero
// PTX: sin.approx
// PTX: lg2.approx
__global__ void fast(float* f) { f[0] = sinf(f[1]) + logf(f[2]) + cosf(f[3]); }
