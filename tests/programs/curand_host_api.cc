// cuRAND's generators on the device against the same library's generators on the host: one line "generator,
// distribution: EQUAL of COUNT equal, farthest ULPS ulp" each, and "PASS" or "FAIL" at the end. Needs cuRAND and the
// CUDA runtime:
//   g++ -std=c++17 -I /usr/local/cuda/include tests/programs/curand_host_api.cc -lcurand -lcudart
// Arguments: names of generators (all), as in kGenerators.
#include <cuda_runtime_api.h>
#include <curand.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace {

constexpr size_t kCount = 10000;
constexpr unsigned long long kSeed = 20250115;

struct Generator {
  const char* name;
  curandRngType_t type;
  bool quasi, wide;  ///< quasi-random; of 64 bits
};
constexpr Generator kGenerators[] = {{"xorwow", CURAND_RNG_PSEUDO_XORWOW, false, false},
                                     {"mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A, false, false},
                                     {"mtgp32", CURAND_RNG_PSEUDO_MTGP32, false, false},
                                     {"mt19937", CURAND_RNG_PSEUDO_MT19937, false, false},
                                     {"philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, false, false},
                                     {"sobol32", CURAND_RNG_QUASI_SOBOL32, true, false},
                                     {"scrambled32", CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, true, false},
                                     {"sobol64", CURAND_RNG_QUASI_SOBOL64, true, true},
                                     {"scrambled64", CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, true, true}};

bool all_right = true;

void check(int code, const char* what) {
  if (code == 0) return;
  std::printf("%s -> %d\nFAIL\n", what, code);
  std::exit(1);
}
#define C(call) check(static_cast<int>(call), #call)

/// Units in the last place between two numbers; the largest number for those of other signs, and for integers that
/// differ.
template <typename T>
std::int64_t distance(T a, T b) {
  if (std::memcmp(&a, &b, sizeof(T)) == 0) return 0;
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    Bits x = 0, y = 0;
    std::memcpy(&x, &a, sizeof a);
    std::memcpy(&y, &b, sizeof b);
    if ((x < 0) == (y < 0)) return std::llabs(std::int64_t{x} - y);
  }
  return INT64_MAX;
}

template <typename T>
bool near(T a, T b, double allowed) {
  return allowed == 0 ? a == b
                      : std::fabs(static_cast<double>(a) - static_cast<double>(b)) <=
                            allowed * (1 + std::fabs(static_cast<double>(b)));
}

/// `allowed`: relative; what goes through logarithms and sines differs a little from the host's, also on an H200.
template <typename T, typename Make>
void compare(const Generator& g, const char* distribution, double allowed, Make make) {
  curandGenerator_t device = nullptr, host = nullptr;
  C(curandCreateGenerator(&device, g.type));
  C(curandCreateGeneratorHost(&host, g.type));
  for (curandGenerator_t generator : {device, host}) {
    if (g.quasi) {
      C(curandSetQuasiRandomGeneratorDimensions(generator, 5));
    } else {
      C(curandSetPseudoRandomGeneratorSeed(generator, kSeed));
    }
    if (g.type != CURAND_RNG_PSEUDO_MTGP32 && g.type != CURAND_RNG_PSEUDO_MT19937)
      C(curandSetGeneratorOffset(generator, 3));
  }
  std::vector<T> ours(kCount), theirs(kCount);
  void* memory = nullptr;
  C(cudaMalloc(&memory, kCount * sizeof(T)));
  // Twice: the second call goes on where the first ended.
  size_t equal = 0, wrong = 0;
  std::int64_t farthest = 0;
  for (int call = 0; call < 2; ++call) {
    C(make(device, static_cast<T*>(memory)));
    C(make(host, theirs.data()));
    C(cudaMemcpy(ours.data(), memory, kCount * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < kCount; ++i) {
      const std::int64_t far = distance(ours[i], theirs[i]);
      equal += far == 0;
      wrong += !near(ours[i], theirs[i], allowed);
      if (far > farthest) farthest = far;
    }
  }
  // An H200's MTGP32 makes other normal doubles than the host does.
  const bool right = wrong == 0 || (g.type == CURAND_RNG_PSEUDO_MTGP32 && std::string(distribution) == "normal double");
  all_right = all_right && right;
  std::printf("%s, %s: %zu of %zu equal, farthest %lld ulp%s\n", g.name, distribution, equal, 2 * kCount,
              static_cast<long long>(farthest), right ? "" : " WRONG");
  std::fflush(stdout);
  C(cudaFree(memory));
  C(curandDestroyGenerator(device));
  C(curandDestroyGenerator(host));
}

void run(const Generator& g) {
  if (g.wide) {
    compare<unsigned long long>(g, "64 bits", 0, [](auto r, auto* p) { return curandGenerateLongLong(r, p, kCount); });
  } else {
    compare<unsigned>(g, "32 bits", 0, [](auto r, auto* p) { return curandGenerate(r, p, kCount); });
  }
  compare<float>(g, "uniform", 0, [](auto r, auto* p) { return curandGenerateUniform(r, p, kCount); });
  compare<double>(g, "uniform double", 0, [](auto r, auto* p) { return curandGenerateUniformDouble(r, p, kCount); });
  compare<float>(g, "normal", 1e-4, [](auto r, auto* p) { return curandGenerateNormal(r, p, kCount, 1.f, 2.f); });
  compare<double>(g, "normal double", 1e-11,
                  [](auto r, auto* p) { return curandGenerateNormalDouble(r, p, kCount, 1., 2.); });
  compare<float>(g, "log-normal", 1e-4,
                 [](auto r, auto* p) { return curandGenerateLogNormal(r, p, kCount, 0.f, 1.f); });
  compare<unsigned>(g, "Poisson 10", 0, [](auto r, auto* p) { return curandGeneratePoisson(r, p, kCount, 10.); });
  compare<unsigned>(g, "Poisson 500", 0, [](auto r, auto* p) { return curandGeneratePoisson(r, p, kCount, 500.); });
  compare<unsigned>(g, "Poisson 5000", 0, [](auto r, auto* p) { return curandGeneratePoisson(r, p, kCount, 5000.); });
}

}  // namespace

int main(int argc, char** argv) {
  for (const Generator& g : kGenerators) {
    bool asked = argc == 1;
    for (int i = 1; i < argc; ++i) asked = asked || std::string(argv[i]) == g.name;
    if (asked) run(g);
  }
  std::puts(all_right ? "PASS" : "FAIL");
  return all_right ? 0 : 1;
}
