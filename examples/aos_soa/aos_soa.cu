// An array of structures against a structure of arrays.
//
// AoS: the fields of one element lie together. A warp that reads field x of 32 elements touches the bytes of field y as
// well: with two floats per element half of every sector is for later, with three floats the three reads of a warp go
// over the same 12 sectors one after the other. SoA: equal fields lie together, and every read of a warp is 4 full
// sectors. AoS is right when all fields are used at once and one vector access takes them (see float4).
#include "../example.h"

struct Pair {
  float x;
  float y;
};

struct Point {
  float x;
  float y;
  float z;
};

__global__ void addToPairsAoS(const Pair* in, Pair* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i].x = in[i].x + 10.0f;
  out[i].y = in[i].y + 20.0f;
}

__global__ void addToPairsSoA(const float* x, const float* y, float* out_x, float* out_y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out_x[i] = x[i] + 10.0f;
  out_y[i] = y[i] + 20.0f;
}

__global__ void squaredLengthAoS(const Point* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Point p = in[i];
  out[i] = p.x * p.x + p.y * p.y + p.z * p.z;
}

__global__ void squaredLengthSoA(const float* x, const float* y, const float* z, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 18, 256, 1 << 22);
  const std::vector<float> x = random_floats(n, 1);
  const std::vector<float> y = random_floats(n, 2);
  const std::vector<float> z = random_floats(n, 3);
  std::vector<Pair> pairs(n);
  std::vector<Point> points(n);
  for (int i = 0; i < n; ++i) {
    pairs[i] = {x[i], y[i]};
    points[i] = {x[i], y[i], z[i]};
  }
  float* dx = to_device(x);
  float* dy = to_device(y);
  float* dz = to_device(z);
  Pair* device_pairs = to_device(pairs);
  Point* device_points = to_device(points);
  Pair* out_pairs = device_array<Pair>(n);
  float* out_x = device_array<float>(n);
  float* out_y = device_array<float>(n);
  const dim3 grid(n / 256);
  Verdict verdict;

  addToPairsAoS<<<grid, 256>>>(device_pairs, out_pairs, n);
  addToPairsSoA<<<grid, 256>>>(dx, dy, out_x, out_y, n);
  CHECK_LAUNCH();
  const std::vector<Pair> got_pairs = to_host(out_pairs, n);
  const std::vector<float> got_x = to_host(out_x, n);
  const std::vector<float> got_y = to_host(out_y, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) {
    ok = ok && got_pairs[i].x == x[i] + 10.0f && got_pairs[i].y == y[i] + 20.0f;
    ok = ok && got_x[i] == got_pairs[i].x && got_y[i] == got_pairs[i].y;
  }
  verdict.expect(ok, "pairs");

  squaredLengthAoS<<<grid, 256>>>(device_points, out_x, n);
  squaredLengthSoA<<<grid, 256>>>(dx, dy, dz, out_y, n);
  CHECK_LAUNCH();
  const std::vector<float> aos = to_host(out_x, n);
  const std::vector<float> soa = to_host(out_y, n);
  ok = true;
  for (int i = 0; i < n; ++i) {
    const double exact = double(x[i]) * x[i] + double(y[i]) * y[i] + double(z[i]) * z[i];
    ok = ok && aos[i] == soa[i] && std::fabs(aos[i] - exact) <= 1e-6 * exact;
  }
  verdict.expect(ok, "squared lengths");

  for (float* p : {dx, dy, dz, out_x, out_y}) CHECK(cudaFree(p));
  CHECK(cudaFree(device_pairs));
  CHECK(cudaFree(device_points));
  CHECK(cudaFree(out_pairs));
  return verdict.finish();
}
