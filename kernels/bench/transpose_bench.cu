// Transposes on a GPU: square, odd and thin matrices, structures of 2 to 64 fields, batches of small matrices.
#include "../transpose.cuh"

#include "harness.cuh"
#include "peers.h"

namespace mk = muscope::kernels;
using bench::Case;
using bench::Role;

namespace {

constexpr std::size_t kBuffer = (std::size_t{9} << 28) + 4096;
constexpr std::size_t kGuard = 256;

struct Memory {
  char *in, *out, *reference;
};

template <typename T>
__global__ void naive_transpose(T* out, const T* in, std::size_t rows, std::size_t cols) {
  const std::size_t count = rows * cols;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    out[i % cols * rows + i / cols] = in[i];
  }
}

template <typename T>
__global__ void naive_batch(T* out, const T* in, std::size_t batch, int rows, int cols) {
  const std::size_t size = static_cast<std::size_t>(rows * cols), count = batch * size;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const std::size_t r = i % size / cols, c = i % size % cols;
    out[i / size * size + c * rows + r] = in[i];
  }
}

/// The output and 256 bytes on both sides are 0xff before, and as they must be after.
Case new_case(const std::string& primitive, const std::string& shape, Memory m, std::size_t bytes, std::size_t shift) {
  Case c;
  c.primitive = primitive;
  c.shape = shape;
  c.bytes = 2 * bytes;
  c.poison = [=] { CHECK(cudaMemset(m.out, 0xff, bytes + 2 * kGuard + shift)); };
  return c;
}

bool right(Memory m, std::size_t bytes, std::size_t shift) {
  return bench::differences(m.out + kGuard + shift, m.reference + kGuard + shift, bytes) == 0 &&
         bench::differences(m.out, m.reference, bytes + 2 * kGuard + shift) == 0;
}

template <typename T>
void transposes(bench::Harness& harness, Memory m, const bench::Geam& geam, const std::string& primitive,
                std::size_t rows, std::size_t cols, std::size_t in_shift = 0, std::size_t out_shift = 0,
                bool tuning = false) {
  const std::size_t bytes = rows * cols * sizeof(T);
  std::string shape = std::to_string(rows) + "x" + std::to_string(cols) + " of " + std::to_string(sizeof(T)) + " bytes";
  if (in_shift + out_shift != 0) {
    shape += " begin +" + std::to_string(in_shift * sizeof(T)) + " to +" + std::to_string(out_shift * sizeof(T));
  }
  if (!harness.wanted(primitive + " " + shape)) return;
  const T* in = reinterpret_cast<const T*>(m.in) + in_shift;
  const std::size_t shift = out_shift * sizeof(T);
  T* out = reinterpret_cast<T*>(m.out + kGuard) + out_shift;
  CHECK(cudaMemset(m.reference, 0xff, bytes + 2 * kGuard + shift));
  naive_transpose<<<4224, 256>>>(reinterpret_cast<T*>(m.reference + kGuard) + out_shift, in, rows, cols);
  CHECK(cudaDeviceSynchronize());
  Case c = new_case(primitive, shape, m, bytes, shift);
  const auto verified = [=] { return right(m, bytes, shift); };
  if (std::min(rows, cols) <= 64 && std::min(rows, cols) >= 24 && rows * cols % 2 == 1 && sizeof(T) == 4) {
    mk::detail::TransposeArgs a{};
    a.out = reinterpret_cast<char*>(out), a.in = reinterpret_cast<const char*>(in);
    a.out_pitch = static_cast<long long>(rows * 4), a.in_pitch = static_cast<long long>(cols * 4);
    a.rows = static_cast<long long>(rows), a.cols = static_cast<long long>(cols);
    c.contenders.push_back(
        {Role::kOurs, "tiles", [=](cudaStream_t s) { return mk::detail::transpose_tiles<4>(a, false, s); }, verified});
  }
  c.contenders.push_back({Role::kOurs, "transpose",
                          [=](cudaStream_t s) { return mk::transpose(out, rows, in, cols, rows, cols, s); }, verified});
  if constexpr (sizeof(T) == 4) {
    if (geam.ready) {
      c.contenders.push_back({Role::kPeer, "cublasSgeam",
                              [=, &geam](cudaStream_t) {
                                return geam(reinterpret_cast<float*>(out), reinterpret_cast<const float*>(in), rows,
                                            cols);
                              },
                              verified});
    }
    if (tuning) {
      mk::detail::TransposeArgs a{};
      a.out = reinterpret_cast<char*>(out), a.in = reinterpret_cast<const char*>(in);
      a.out_pitch = static_cast<long long>(rows * 4), a.in_pitch = static_cast<long long>(cols * 4);
      a.rows = static_cast<long long>(rows), a.cols = static_cast<long long>(cols);
      const bool aligned = rows % 8 == 0 && cols % 4 == 0 && in_shift == 0 && out_shift == 0;
      const auto variant = [&](const char* name, auto launch) {
        c.contenders.push_back(
            {Role::kOurs, std::string("tile ") + name, [=](cudaStream_t s) { return launch(a, s); }, verified});
      };
      if (aligned) {
        variant("16x16", mk::detail::launch_transpose<4, 16, 16, true>);
        variant("16x32", mk::detail::launch_transpose<4, 16, 32, true>);
        variant("32x16", mk::detail::launch_transpose<4, 32, 16, true>);
      } else {
        variant("16x32", mk::detail::launch_singles<4, 16, 32, 1, 3>);
        variant("32x16 twice", mk::detail::launch_singles<4, 32, 16, 2, 3>);
      }
    }
  }
  bench::add_copy_ceilings(c, m.out + kGuard, m.in, bytes);
  harness.run(c);
}

template <typename T>
void batches(bench::Harness& harness, Memory m, int rows, int cols) {
  const std::size_t size = static_cast<std::size_t>(rows * cols) * sizeof(T);
  const std::size_t batch = (std::size_t{1} << 28) / size, bytes = batch * size;
  const std::string shape =
      std::to_string(rows) + "x" + std::to_string(cols) + " of " + std::to_string(sizeof(T)) + " bytes, 256 MiB";
  if (!harness.wanted("batched transpose " + shape)) return;
  const T* in = reinterpret_cast<const T*>(m.in);
  T* out = reinterpret_cast<T*>(m.out + kGuard);
  CHECK(cudaMemset(m.reference, 0xff, bytes + 2 * kGuard));
  naive_batch<<<4224, 256>>>(reinterpret_cast<T*>(m.reference + kGuard), in, batch, rows, cols);
  Case c = new_case("batched transpose", shape, m, bytes, 0);
  c.contenders.push_back({Role::kOurs, "transpose_batch",
                          [=](cudaStream_t s) { return mk::transpose_batch(out, in, batch, rows, cols, s); },
                          [=] { return right(m, bytes, 0); }});
  bench::add_copy_ceilings(c, m.out + kGuard, m.in, bytes / 16 * 16);
  harness.run(c);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Harness harness(argc, argv);
  const bench::Geam geam;
  const Memory m = {bench::device_memory(kBuffer), bench::device_memory(kBuffer), bench::device_memory(kBuffer)};
  bench::fill(m.in, kBuffer, bench::Fill::kUnit);  // cuBLAS multiplies by one: no NaN
  const std::size_t squares[] = {512, 1024, 2048, 4096, 8192, 16384};
  for (const std::size_t n : squares) transposes<float>(harness, m, geam, "transpose", n, n, 0, 0, n >= 4096);
  transposes<float>(harness, m, geam, "transpose", 2047, 2049);
  transposes<float>(harness, m, geam, "transpose", 4095, 4097, 0, 0, true);
  transposes<float>(harness, m, geam, "transpose", 8191, 8193, 0, 0, true);
  transposes<float>(harness, m, geam, "transpose", 16383, 16383, 0, 0, true);
  transposes<float>(harness, m, geam, "transpose", 1000, 100000);
  transposes<float>(harness, m, geam, "transpose", 8192, 8192, 1, 0);
  transposes<float>(harness, m, geam, "transpose", 8192, 8192, 0, 1);
  transposes<float>(harness, m, geam, "transpose", 8192, 8192, 3, 2);
  transposes<unsigned char>(harness, m, geam, "transpose", 16384, 16384);
  transposes<unsigned char>(harness, m, geam, "transpose", 16383, 16381);
  transposes<unsigned char>(harness, m, geam, "transpose", 46349, 46351);  // more than 2^31 elements
  transposes<unsigned short>(harness, m, geam, "transpose", 8192, 16384);
  transposes<unsigned short>(harness, m, geam, "transpose", 8191, 16383);
  transposes<double>(harness, m, geam, "transpose", 8192, 8192);
  transposes<double>(harness, m, geam, "transpose", 8191, 8193);
  transposes<uint4>(harness, m, geam, "transpose", 4096, 8192);
  transposes<uint4>(harness, m, geam, "transpose", 4095, 8193);
  for (const std::size_t fields : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 12u, 16u, 24u, 32u, 33u, 48u, 63u, 64u}) {
    const std::size_t structs = (std::size_t{1} << 26) / fields;
    const std::size_t even = structs / 128 * 128;
    transposes<float>(harness, m, geam, "AoS to SoA", even, fields);
    transposes<float>(harness, m, geam, "SoA to AoS", fields, even);
    if (fields % 2 == 1 || fields == 8) {
      transposes<float>(harness, m, geam, "AoS to SoA", even - 1, fields);
      transposes<float>(harness, m, geam, "SoA to AoS", fields, even - 1);
    }
  }
  for (const std::size_t fields : {3u, 4u, 16u}) {
    transposes<unsigned char>(harness, m, geam, "AoS to SoA", std::size_t{1} << 26, fields);
    transposes<unsigned char>(harness, m, geam, "SoA to AoS", fields, std::size_t{1} << 26);
    transposes<unsigned short>(harness, m, geam, "AoS to SoA", std::size_t{1} << 25, fields);
    transposes<unsigned short>(harness, m, geam, "SoA to AoS", fields, std::size_t{1} << 25);
    transposes<double>(harness, m, geam, "AoS to SoA", std::size_t{1} << 23, fields);
    transposes<double>(harness, m, geam, "SoA to AoS", fields, std::size_t{1} << 23);
  }
  const int small[][2] = {{2, 2}, {3, 3}, {4, 4}, {4, 8}, {7, 5}, {8, 8}, {16, 16}, {17, 31}, {32, 32}};
  for (const auto& s : small) {
    batches<float>(harness, m, s[0], s[1]);
    batches<double>(harness, m, s[0], s[1]);
  }
  return harness.failures() == 0 ? 0 : 1;
}
