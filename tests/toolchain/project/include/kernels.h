// Host functions that launch kernels of other files: nothing here needs a CUDA compiler.
#pragma once

void scale(float* device_data, float factor, int n);
void add(float* device_data, float value, int n);
