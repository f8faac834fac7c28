// The calls that clang writes for kernel<<<grid, block, shared, stream>>>(...).
#ifndef MUSCOPE_DEVICE_LAUNCH_H
#define MUSCOPE_DEVICE_LAUNCH_H

extern "C" __host__ unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void* stream = 0);

#endif
