// Sparse matrix by vector with rows of uneven length: loops whose trip counts differ by lane, which ptxas unrolls.
#include "check.h"

__global__ void csr_scalar(int rows, const int* start, const int* column, const float* value, const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = start[row]; k < start[row + 1]; ++k) sum += value[k] * x[column[k]];
  y[row] = sum;
}

__global__ void csr_vector(int rows, const int* start, const int* column, const float* value, const float* x, float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int k = start[row] + lane; k < start[row + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void csr_no_unroll(int rows, const int* start, const int* column, const float* value, const float* x,
                              float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
#pragma unroll 1
  for (int k = start[row]; k < start[row + 1]; ++k) sum += value[k] * x[column[k]];
  y[row] = sum;
}

__global__ void csr_early_out(int rows, const int* start, const int* column, const float* value, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = -1;
  for (int k = start[row]; k < start[row + 1]; ++k) {
    if (column[k] % 7 == 3) continue;
    best = fmaxf(best, value[k]);
    if (best > 0.95f) break;
  }
  y[row] = best;
}

int main() {
  const int rows = 3000;
  std::uint32_t state = 1;
  Buffer<int> start(rows + 1);
  for (int r = 0; r < rows; ++r) start.host[r + 1] = start.host[r] + static_cast<int>(next_number(state) % (r % 50 == 0 ? 200 : 24));
  const int count = start.host[rows];
  Buffer<int> column(count);
  Buffer<float> value(count), x(rows), y(rows);
  for (int k = 0; k < count; ++k) {
    column.host[k] = static_cast<int>(next_number(state) % rows);
    value.host[k] = static_cast<float>(next_number(state) % 1000) / 1000;
  }
  for (float& v : x.host) v = static_cast<float>(next_number(state) % 100);
  start.up(), column.up(), value.up(), x.up();
  const auto product = [&](std::size_t r) {
    double sum = 0;
    for (int k = start.host[r]; k < start.host[r + 1]; ++k) sum += double(value.host[k]) * x.host[column.host[k]];
    return sum;
  };
  csr_scalar<<<(rows + 127) / 128, 128>>>(rows, start.device, column.device, value.device, x.device, y.device);
  check("csr_scalar", y, product, 1e-4);
  csr_vector<<<(rows * 32 + 255) / 256, 256>>>(rows, start.device, column.device, value.device, x.device, y.device);
  check("csr_vector", y, product, 1e-4);
  csr_no_unroll<<<(rows + 127) / 128, 128>>>(rows, start.device, column.device, value.device, x.device, y.device);
  check("csr_no_unroll", y, product, 1e-4);
  csr_early_out<<<(rows + 63) / 64, 64>>>(rows, start.device, column.device, value.device, y.device);
  check("csr_early_out", y, [&](std::size_t r) {
    float best = -1;
    for (int k = start.host[r]; k < start.host[r + 1]; ++k) {
      if (column.host[k] % 7 == 3) continue;
      best = std::fmax(best, value.host[k]);
      if (best > 0.95f) break;
    }
    return best;
  });
  return finish();
}
