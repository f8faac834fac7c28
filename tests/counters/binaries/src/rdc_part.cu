// The other half of rdc_main.cu.
__device__ int triple(int value) { return 3 * value; }
