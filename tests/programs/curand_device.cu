// cuRAND's generators in device code (curand_kernel.h): results on the device against the same header's on the host,
// and against published answers. One line per generator, and "PASS" or "FAIL" at the end. Needs cuRAND's headers only:
//   nvcc -std=c++17 tests/programs/curand_device.cu
#define QUALIFIERS static inline __host__ __device__
#define HOST_HAVE_ERFCINVF  // normal numbers of quasi-random generators on the host too
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <cstring>

constexpr int kThreads = 64, kDraws = 5;
constexpr unsigned long long kSeed = 0x2545f4914f6cdd1dull;

/// What one thread draws.
struct Drawn {
  unsigned bits[kDraws];
  float uniform, normal, log_normal;
  double uniform_double, normal_double;
  unsigned poisson, after_skip;
};

template <typename State>
__host__ __device__ Drawn draw(State s) {
  Drawn d{};
  for (unsigned& bits : d.bits) bits = curand(&s);
  d.uniform = curand_uniform(&s);
  d.uniform_double = curand_uniform_double(&s);
  d.normal = curand_normal(&s);
  d.log_normal = curand_log_normal(&s, 0.f, 1.f);
  d.normal_double = curand_normal_double(&s);
  skipahead(1000003ull, &s);
  d.after_skip = curand(&s);
  return d;
}

template <typename State>
__host__ __device__ State begin(int thread) {
  State s;
  curand_init(kSeed, static_cast<unsigned long long>(thread), 17ull, &s);
  return s;
}

/// Direction numbers of the van der Corput sequence: dimension 0 of Sobol's.
__host__ __device__ inline void directions(unsigned (&v)[32]) {
  for (int i = 0; i < 32; ++i) v[i] = 0x80000000u >> i;
}
template <>
__host__ __device__ curandStateSobol32_t begin<curandStateSobol32_t>(int thread) {
  unsigned v[32];
  directions(v);
  curandStateSobol32_t s;
  curand_init(v, static_cast<unsigned>(thread), &s);
  return s;
}
template <>
__host__ __device__ curandStateScrambledSobol32_t begin<curandStateScrambledSobol32_t>(int thread) {
  unsigned v[32];
  directions(v);
  curandStateScrambledSobol32_t s;
  curand_init(v, 0x9e3779b9u, static_cast<unsigned>(thread), &s);
  return s;
}

template <typename State>
__global__ void draw_all(Drawn* out) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  out[t] = draw(begin<State>(t));
}

bool all_right = true;

void tell(const char* what, bool right) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
  all_right = all_right && right;
}

/// Bits and uniform numbers are the host's; what goes through logarithms and sines lies near them.
template <typename State>
void compare(const char* name) {
  Drawn *device, ours[kThreads];
  cudaMalloc(&device, sizeof ours);
  draw_all<State><<<2, kThreads / 2>>>(device);
  const bool ran = cudaMemcpy(ours, device, sizeof ours, cudaMemcpyDeviceToHost) == cudaSuccess;
  bool right = ran;
  for (int t = 0; t < kThreads; ++t) {
    const Drawn& a = ours[t];
    const Drawn b = draw(begin<State>(t));
    right = right && std::memcmp(a.bits, b.bits, sizeof a.bits) == 0 && a.uniform == b.uniform &&
            a.uniform_double == b.uniform_double && a.after_skip == b.after_skip;
    right = right && std::fabs(a.normal - b.normal) <= 1e-4f * (1 + std::fabs(b.normal)) &&
            std::fabs(a.log_normal - b.log_normal) <= 1e-4f * (1 + b.log_normal) &&
            std::fabs(a.normal_double - b.normal_double) <= 1e-12 * (1 + std::fabs(b.normal_double));
  }
  tell(name, right);
  cudaFree(device);
}

__global__ void philox(uint4* out) {
  const struct {
    uint4 counter;
    uint2 key;
  } kCases[] = {{{0, 0, 0, 0}, {0, 0}},
                {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}},
                {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}}};
  curandStatePhilox4_32_10_t s;
  const auto c = kCases[threadIdx.x];
  curand_init(c.key.x | static_cast<unsigned long long>(c.key.y) << 32,
              c.counter.z | static_cast<unsigned long long>(c.counter.w) << 32, 0, &s);
  const unsigned long long low = c.counter.x | static_cast<unsigned long long>(c.counter.y) << 32;
  // Numbers are made by fours: the counter moves by 1 for each 4 that are skipped.
  for (int part = 0; part < 4; ++part) skipahead(low / 4 * 4, &s);
  for (unsigned rest = 0; rest < low % 4; ++rest) skipahead(4, &s);
  out[threadIdx.x] = curand4(&s);
}

/// The known answers of Random123's philox4x32 with 10 rounds (kat_vectors).
void known_philox() {
  const unsigned kAnswers[3][4] = {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u},
                                   {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu},
                                   {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}};
  uint4 *device, ours[3];
  cudaMalloc(&device, sizeof ours);
  philox<<<1, 3>>>(device);
  cudaMemcpy(ours, device, sizeof ours, cudaMemcpyDeviceToHost);
  tell("philox, known answers", std::memcmp(ours, kAnswers, sizeof ours) == 0);
  cudaFree(device);
}

__global__ void others(double* mrg, curandStateXORWOW_t* state, unsigned* xorwow, unsigned* sobol) {
  curandStateMRG32k3a_t m;
  curand_init(0, 0, 0, &m);
  for (int i = 0; i < 5; ++i) mrg[i] = curand_uniform_double(&m);
  curandStateXORWOW_t x;
  curand_init(99, 5, 3, &x);
  *state = x;
  for (int i = 0; i < 8; ++i) xorwow[i] = curand(&x);
  unsigned v[32];
  directions(v);
  curandStateSobol32_t s;
  curand_init(v, 0u, &s);
  for (int i = 0; i < 8; ++i) sobol[i] = curand(&s);
}

void known_others() {
  struct Out {
    double mrg[5];
    curandStateXORWOW_t state;
    unsigned xorwow[8], sobol[8];
  } *device, ours;
  cudaMalloc(&device, sizeof ours);
  others<<<1, 1>>>(device->mrg, &device->state, device->xorwow, device->sobol);
  cudaMemcpy(&ours, device, sizeof ours, cudaMemcpyDeviceToHost);
  // L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators", MRG32k3a,
  // seeded with 12345.
  constexpr long long kM1 = 4294967087, kM2 = 4294944443;
  long long x[3] = {12345, 12345, 12345}, y[3] = {12345, 12345, 12345};
  bool right = true;
  for (const double u : ours.mrg) {
    const long long next_x = ((1403580 * x[1] - 810728 * x[0]) % kM1 + kM1) % kM1;
    const long long next_y = ((527612 * y[2] - 1370589 * y[0]) % kM2 + kM2) % kM2;
    x[0] = x[1], x[1] = x[2], x[2] = next_x;
    y[0] = y[1], y[1] = y[2], y[2] = next_y;
    const long long z = ((next_x - next_y) % kM1 + kM1) % kM1;
    right = right && std::fabs(u - static_cast<double>(z == 0 ? kM1 : z) / (kM1 + 1)) < 1e-9;
  }
  tell("mrg32k3a, recurrence", right);
  // Marsaglia, "Xorshift RNGs", section 3.1.
  unsigned v[5], d = ours.state.d;
  std::memcpy(v, ours.state.v, sizeof v);
  right = true;
  for (const unsigned bits : ours.xorwow) {
    const unsigned t = v[0] ^ (v[0] >> 2);
    std::memmove(v, v + 1, 16);
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
    right = right && bits == (d += 362437) + v[4];
  }
  tell("xorwow, recurrence", right);
  // Gray codes, bits reversed.
  right = true;
  for (unsigned i = 0; i < 8; ++i) {
    unsigned gray = i ^ (i >> 1), reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (gray >> bit & 1u) << (31 - bit);
    right = right && ours.sobol[i] == reversed;
  }
  tell("sobol32, van der Corput", right);
  cudaFree(device);
}

int main() {
  compare<curandStateXORWOW_t>("xorwow");
  compare<curandStatePhilox4_32_10_t>("philox");
  compare<curandStateMRG32k3a_t>("mrg32k3a");
  compare<curandStateSobol32_t>("sobol32");
  compare<curandStateScrambledSobol32_t>("scrambled sobol32");
  known_philox();
  known_others();
  std::puts(all_right ? "PASS" : "FAIL");
  return all_right ? 0 : 1;
}
