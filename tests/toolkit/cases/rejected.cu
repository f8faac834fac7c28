// A mistake in device code is reported where it is, in the user's words.
// ERROR: call to __host__ function from __global__ function
__global__ void kernel(float** p) { cudaMalloc((void**)p, 4); }
