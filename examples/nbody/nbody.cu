// Accelerations of many particles by four heavy bodies: their masses in constant or in global memory.
//
// All lanes of a warp need the mass of the same body at the same time. From constant memory that is one word for the
// whole warp, and the compiler can use it as an operand of the multiplication, with no load at all. From global memory
// it is a load of one sector per warp. The positions are needed in the same way, so both kernels read them alike.
#include "../example.h"

constexpr int kBodies = 4;
constexpr float kSoftening = 0.01f;  // keeps the force finite where a particle meets a body

__constant__ float masses[kBodies];

template <bool kFromConstant>
__global__ void accelerate(const float* bodies, const float* global_masses, const float* particles, float* result,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float px = particles[i * 3];
  const float py = particles[i * 3 + 1];
  const float pz = particles[i * 3 + 2];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < kBodies; ++j) {
    const float dx = bodies[j * 3] - px;
    const float dy = bodies[j * 3 + 1] - py;
    const float dz = bodies[j * 3 + 2] - pz;
    const float mass = kFromConstant ? masses[j] : global_masses[j];
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
    const float pull = mass * inverse * inverse * inverse;
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
  }
  result[i * 3] = ax;
  result[i * 3 + 1] = ay;
  result[i * 3 + 2] = az;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 16, 256, 1 << 22);
  const std::vector<float> bodies = random_floats(kBodies * 3, 1);
  const std::vector<float> particles = random_floats(static_cast<size_t>(n) * 3, 2);
  const std::vector<float> heavy{1.0f, 2.0f, 3.0f, 4.0f};
  float* device_bodies = to_device(bodies);
  float* device_particles = to_device(particles);
  float* device_masses = to_device(heavy);
  float* result = device_array<float>(static_cast<size_t>(n) * 3);
  CHECK(cudaMemcpyToSymbol(masses, heavy.data(), kBodies * sizeof(float)));
  Verdict verdict;
  const auto check = [&](const char* name) {
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(result, static_cast<size_t>(n) * 3);
    bool ok = true;
    for (int i = 0; i < n; ++i) {
      double exact[3] = {};
      for (int j = 0; j < kBodies; ++j) {
        double d[3];
        double square = kSoftening;
        for (int k = 0; k < 3; ++k) {
          d[k] = double(bodies[j * 3 + k]) - particles[i * 3 + k];
          square += d[k] * d[k];
        }
        for (int k = 0; k < 3; ++k) exact[k] += heavy[j] * d[k] / (square * std::sqrt(square));
      }
      // Pulls from several sides cancel, so the error is measured against the largest pull there can be.
      for (int k = 0; k < 3; ++k)
        ok = ok && std::fabs(got[i * 3 + k] - exact[k]) < 1e-4 * (std::fabs(exact[k]) + 100.0);
    }
    verdict.expect(ok, name);
    CHECK(cudaMemset(result, 0xa5, static_cast<size_t>(n) * 3 * sizeof(float)));
  };
  accelerate<true><<<n / 256, 256>>>(device_bodies, device_masses, device_particles, result, n);
  check("masses in constant memory");
  accelerate<false><<<n / 256, 256>>>(device_bodies, device_masses, device_particles, result, n);
  check("masses in global memory");
  for (float* p : {device_bodies, device_particles, device_masses, result}) CHECK(cudaFree(p));
  return verdict.finish();
}
