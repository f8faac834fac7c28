// ERROR: use of undeclared identifier 'blockIndex'
__global__ void kernel(int* p) { p[0] = blockIndex.x; }
