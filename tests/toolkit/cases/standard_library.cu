// Headers of the C and C++ libraries in both passes, and what of them serves device code.
#include <sys/time.h>
#include <unistd.h>

#include <math.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cfloat>
#include <chrono>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <cuComplex.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <device_launch_parameters.h>
#include <math_constants.h>
#include <sm_20_intrinsics.h>

__global__ void kernel(float* f, double* d, int* i) {
  f[0] = std::min(f[1], f[2]) + std::max(f[3], 2.f) + FLT_MAX + std::numeric_limits<float>::epsilon() + CUDART_PI_F;
  d[0] = std::fmax(d[1], d[2]) + std::sin(d[3]) + std::exp(f[1]) + DBL_MIN + CUDART_INF;
  std::complex<float> z(f[0], f[1]);
  z = z * z + std::complex<float>(1, 2);
  f[4] = z.real() / std::abs(z);
  const cuComplex c = cuCmulf(make_cuComplex(f[1], f[2]), make_cuComplex(1, 2));
  f[5] = c.x + cuCabsf(c);
  i[0] = INT_MAX - std::abs(i[1]);
  std::array<int, 3> a{{1, 2, 3}};
  i[1] = a[i[2] % 3];
  memcpy(i + 4, i + 8, 4);
  memset(i + 5, 0, 4);
}

int main() {
  std::vector<float> values(16);
  std::iota(values.begin(), values.end(), 0.f);
  std::sort(values.rbegin(), values.rend());
  std::mt19937 random(1);
  std::map<std::string, int> names{{"a", 1}};
  const auto start = std::chrono::steady_clock::now();
  kernel<<<1, 1>>>(nullptr, nullptr, nullptr);
  cudaProfilerStart();
  std::cout << std::setw(3) << names["a"] << std::max(1, 2) << random() << std::endl;
  return std::chrono::steady_clock::now() < start;
}
