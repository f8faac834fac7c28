// Copies by tensor maps (cp.async.bulk.tensor): one to five dimensions, element types, strides, steps, swizzles, what
// is out of bounds, stores; and the errors of maps that cannot be. The expected lines (tensor_maps_h200.txt) are of an
// H200. Argument: none, or the number of a case that ends in an error.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

using u8 = unsigned char;
using u32 = unsigned;
using u64 = unsigned long long;

constexpr int kTileBytes = 16384;

static decltype(&cuTensorMapEncodeTiled) encode_tiled;

struct Map {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  u32 rank = 2;
  u64 dims[5] = {64, 32, 4, 4, 4}, strides[4] = {256, 8192, 32768, 131072};
  u32 box[5] = {16, 8, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  CUresult encode(CUtensorMap* map, void* address) const {
    return encode_tiled(map, type, rank, address, reinterpret_cast<const cuuint64_t*>(dims),
                        reinterpret_cast<const cuuint64_t*>(strides), box, steps, interleave, swizzle, promotion, fill);
  }
  u32 bytes() const {
    static const u32 sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    u32 n = sizes[type];
    for (u32 d = 0; d < rank; ++d)
      n *= d == 0 && interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? box[d] : (box[d] + steps[d] - 1) / steps[d];
    return n;
  }
};

__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ void wait_phase(u32 barrier, u32 parity) {
  asm volatile(
      "{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again;}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

struct Where {
  int c[5];
};

#define LOAD(dim, coords)                                                                                            \
  asm volatile("cp.async.bulk.tensor." dim                                                                           \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " coords "], [%7];" ::"r"(to), \
               "l"(map), "r"(w.c[0]), "r"(w.c[1]), "r"(w.c[2]), "r"(w.c[3]), "r"(w.c[4]), "r"(bar)                   \
               : "memory")
#define STORE(dim, coords)                                                                                           \
  asm volatile("cp.async.bulk.tensor." dim "d.global.shared::cta.tile.bulk_group [%1, " coords "], [%0];" ::"r"(to), \
               "l"(map), "r"(w.c[0]), "r"(w.c[1]), "r"(w.c[2]), "r"(w.c[3]), "r"(w.c[4])                             \
               : "memory")

__device__ void load_tile(int rank, u32 to, const void* map, const Where& w, u32 bar) {
  if (rank == 1) LOAD("1", "{%2}");
  if (rank == 2) LOAD("2", "{%2, %3}");
  if (rank == 3) LOAD("3", "{%2, %3, %4}");
  if (rank == 4) LOAD("4", "{%2, %3, %4, %5}");
  if (rank == 5) LOAD("5", "{%2, %3, %4, %5, %6}");
}

__global__ void load(const __grid_constant__ CUtensorMap map, u32* out, int rank, Where w, u32 bytes) {
  __shared__ alignas(1024) u8 tile[kTileBytes];
  __shared__ alignas(8) u64 bar;
  for (int i = threadIdx.x; i < kTileBytes / 4; i += blockDim.x) reinterpret_cast<u32*>(tile)[i] = 0xdeadbeef;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar)));
    asm volatile("fence.proxy.async;");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&bar)), "r"(bytes));
    load_tile(rank, shared_address(tile), &map, w, shared_address(&bar));
  }
  wait_phase(shared_address(&bar), 0);
  for (int i = threadIdx.x; i < kTileBytes / 4; i += blockDim.x) out[i] = reinterpret_cast<u32*>(tile)[i];
}

/// The tile holds its own word numbers.
__global__ void store(const __grid_constant__ CUtensorMap map, int rank, Where w) {
  __shared__ alignas(1024) u8 tile[kTileBytes];
  for (int i = threadIdx.x; i < kTileBytes / 4; i += blockDim.x) reinterpret_cast<u32*>(tile)[i] = 1000 + i;
  asm volatile("fence.proxy.async;");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const u32 to = shared_address(tile);
  const void* const m = &map;
  {
    const void* const map = m;
    if (rank == 1) STORE("1", "{%2}");
    if (rank == 2) STORE("2", "{%2, %3}");
    if (rank == 3) STORE("3", "{%2, %3, %4}");
    if (rank == 5) STORE("5", "{%2, %3, %4, %5, %6}");
  }
  asm volatile("cp.async.bulk.commit_group;");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

static std::vector<u32> host;
static u32* tensor;
static u32* result;
constexpr std::size_t kWords = 1 << 18;

static void reset(CUtensorMapDataType type) {
  for (std::size_t i = 0; i < kWords; ++i) {
    float f = static_cast<float>(i % 1021) * 0.25f - 7;
    host[i] = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 ||
                      type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ
                  ? *reinterpret_cast<u32*>(&f) + (i % 5)
                  : static_cast<u32>(i * 2654435761u >> 7);
    if ((type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) && i % 7 == 0)
      host[i] = (i << 31) | 1000 + i;
    if (type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16)
      host[i] = 0x3c003800u + i % 97 * 0x00100020u;
  }
  cudaMemcpy(tensor, host.data(), kWords * 4, cudaMemcpyHostToDevice);
}

static u32 hash_of(const std::vector<u32>& words) {
  u32 hash = 2166136261u;
  for (const u32 w : words) hash = (hash ^ w) * 16777619u;
  return hash;
}

/// After an error nothing works any more until the device is reset.
static void recover(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaDeviceReset();
  cudaMalloc(&tensor, kWords * 4);
  cudaMalloc(&result, kTileBytes);
}

static void try_load(const char* what, const Map& m, Where w, int shown = 12) {
  CUtensorMap map;
  const CUresult encoded = m.encode(&map, tensor);
  if (encoded != CUDA_SUCCESS) {
    std::printf("%s: encode %d\n", what, encoded);
    return;
  }
  reset(m.type);
  load<<<1, 128>>>(map, result, m.rank, w, m.bytes());
  const cudaError_t error = cudaDeviceSynchronize();
  std::vector<u32> out(kTileBytes / 4);
  cudaMemcpy(out.data(), result, kTileBytes, cudaMemcpyDeviceToHost);
  std::printf("%s: %s %u #%08x", what, cudaGetErrorName(error), m.bytes(), hash_of(out));
  for (int i = 0; i < shown; ++i) std::printf(" %x", out[i]);
  std::printf("\n");
  recover(error);
}

static void try_store(const char* what, const Map& m, Where w) {
  CUtensorMap map;
  const CUresult encoded = m.encode(&map, tensor);
  if (encoded != CUDA_SUCCESS) {
    std::printf("%s: encode %d\n", what, encoded);
    return;
  }
  reset(m.type);
  store<<<1, 128>>>(map, m.rank, w);
  const cudaError_t error = cudaDeviceSynchronize();
  std::vector<u32> out(kWords);
  cudaMemcpy(out.data(), tensor, kWords * 4, cudaMemcpyDeviceToHost);
  std::size_t changed = 0, first = 0;
  for (std::size_t i = kWords; i-- > 0;)
    if (out[i] != host[i]) ++changed, first = i;
  std::printf("%s: %s #%08x %zu from %zu %x\n", what, cudaGetErrorName(error), hash_of(out), changed, first,
              out[first]);
  recover(error);
}

static void encodings() {
  CUtensorMap map;
  const auto attempt = [&](const char* what, auto change, std::size_t shift = 0) {
    Map m;
    change(m);
    std::printf("%s: %d\n", what, m.encode(&map, reinterpret_cast<u8*>(tensor) + shift));
  };
  attempt("plain", [](Map&) {});
  attempt("address 8", [](Map&) {}, 8);
  attempt("address 16", [](Map&) {}, 16);
  attempt("rank 0", [](Map& m) { m.rank = 0; });
  attempt("rank 6", [](Map& m) { m.rank = 6; });
  attempt("rank 1", [](Map& m) { m.rank = 1; });
  attempt("dim 0", [](Map& m) { m.dims[0] = 0; });
  attempt("dim 2^32", [](Map& m) { m.dims[1] = 1ull << 32; });
  attempt("dim 2^32+1", [](Map& m) { m.dims[1] = (1ull << 32) + 1; });
  attempt("stride 248", [](Map& m) { m.strides[0] = 248; });
  attempt("stride 240", [](Map& m) { m.strides[0] = 240; });
  attempt("stride 0", [](Map& m) { m.strides[0] = 0; });
  attempt("stride 2^40", [](Map& m) { m.strides[0] = 1ull << 40; });
  attempt("stride 2^40-16", [](Map& m) { m.strides[0] = (1ull << 40) - 16; });
  attempt("box 0", [](Map& m) { m.box[0] = 0; });
  attempt("box 256", [](Map& m) { m.box[1] = 256; });
  attempt("box 257", [](Map& m) { m.box[1] = 257; });
  attempt("box 3 words", [](Map& m) { m.box[0] = 3; });
  attempt("step 0", [](Map& m) { m.steps[1] = 0; });
  attempt("step 8", [](Map& m) { m.steps[1] = 8; });
  attempt("step 9", [](Map& m) { m.steps[1] = 9; });
  attempt("step 2 in x", [](Map& m) { m.steps[0] = 2; });
  attempt("swizzle 32, 64 bytes", [](Map& m) { m.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; });
  attempt("swizzle 64, 64 bytes", [](Map& m) { m.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; });
  attempt("swizzle 128, 64 bytes", [](Map& m) { m.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; });
  attempt("swizzle 128, 256 bytes", [](Map& m) { m.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, m.box[0] = 64; });
  attempt("swizzle 7", [](Map& m) { m.swizzle = static_cast<CUtensorMapSwizzle>(7); });
  attempt("type 99", [](Map& m) { m.type = static_cast<CUtensorMapDataType>(99); });
  attempt("nan fill of integers", [](Map& m) { m.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
  attempt("nan fill of floats", [](Map& m) {
    m.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, m.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  });
  attempt("promotion 3", [](Map& m) { m.promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B; });
  attempt("promotion 4", [](Map& m) { m.promotion = static_cast<CUtensorMapL2promotion>(4); });
  attempt("interleave 16", [](Map& m) { m.interleave = CU_TENSOR_MAP_INTERLEAVE_16B, m.rank = 3; });
  attempt("interleave 16 rank 2", [](Map& m) { m.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
  attempt("interleave 32, no swizzle", [](Map& m) { m.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, m.rank = 3; });
  attempt("box of 256x256 words", [](Map& m) { m.box[0] = 256, m.box[1] = 256; });
  attempt("map at 32", [](Map&) {});
  Map m;
  alignas(64) u8 room[192];
  std::printf("map at 32: %d\n", m.encode(reinterpret_cast<CUtensorMap*>(room + 32), tensor));
  std::printf("no map: %d\n", m.encode(nullptr, tensor));
  std::printf("no address: %d\n", m.encode(&map, nullptr));
}

static int wrong(int number) {
  Map m;
  CUtensorMap map;
  m.encode(&map, tensor);
  if (number == 4) m.encode(&map, reinterpret_cast<void*>(0x123456789000));
  // Coordinates of x that are no multiple of 16 bytes; the same for swizzled tiles and where x is before the start.
  Where w{};
  if (number == 2) w.c[0] = 5;
  if (number == 6) w.c[0] = 2, m.swizzle = CU_TENSOR_MAP_SWIZZLE_64B, m.encode(&map, tensor);
  if (number == 7) w.c[0] = -3;
  if (number == 8) w.c[0] = 3, m.type = CU_TENSOR_MAP_DATA_TYPE_UINT64, m.box[0] = 2, m.encode(&map, tensor);
  if (number == 9) w.c[0] = 5, w.c[1] = 1, m.rank = 1, m.encode(&map, tensor);
  u8* bytes = reinterpret_cast<u8*>(&map);
  if (number == 0)
    for (int i = 0; i < 128; ++i) bytes[i] = 0;
  load<<<1, 128>>>(map, result, number == 1 ? 3 : number == 5 || number == 9 ? 1 : 2, w, m.bytes());
  std::printf("wrong %d: %s\n", number, cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}

int main(int argc, char** argv) {
  cudaFree(nullptr);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      entry == nullptr)
    return 1;
  encode_tiled = reinterpret_cast<decltype(encode_tiled)>(entry);
  host.resize(kWords);
  if (cudaMalloc(&tensor, kWords * 4) != cudaSuccess || cudaMalloc(&result, kTileBytes) != cudaSuccess) return 1;
  reset(CU_TENSOR_MAP_DATA_TYPE_UINT32);
  if (argc > 1) return wrong(std::atoi(argv[1]));
  encodings();
  Map m;
  try_load("2d", m, {16, 8});
  try_load("2d origin", m, {0, 0});
  try_load("2d odd", m, {8, 3});
  try_load("2d right edge", m, {56, 8}, 20);
  try_load("2d bottom edge", m, {16, 28});
  try_load("2d negative", m, {-4, -3}, 20);
  try_load("2d far", m, {1000, 1000});
  try_load("2d very far", m, {-2147483644, 2147483647});
  for (int type = 0; type <= 12; ++type) {
    Map t;
    t.type = static_cast<CUtensorMapDataType>(type);
    static const u32 sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    t.dims[0] = 256 / sizes[type], t.box[0] = 64 / sizes[type];
    try_load("type", t, {static_cast<int>(t.dims[0]) - 32 / static_cast<int>(sizes[type]), 30}, 18);
    t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    try_load("type, nan", t, {static_cast<int>(t.dims[0]) - 32 / static_cast<int>(sizes[type]), 30}, 18);
  }
  {
    Map t;
    t.rank = 1, t.dims[0] = 1000, t.box[0] = 256;
    try_load("1d", t, {100});
    try_load("1d edge", t, {900});
    t.box[0] = 8;
    try_load("1d 32 bytes", t, {-4});
    t.rank = 3, t.box[0] = 8, t.box[1] = 4, t.box[2] = 3;
    t.dims[0] = 64;
    try_load("3d", t, {4, 5, 1});
    try_load("3d edge", t, {60, 30, 2});
    t.rank = 4, t.box[3] = 2;
    try_load("4d", t, {4, 5, 1, 3});
    t.rank = 5, t.box[4] = 3, t.dims[4] = 2;
    try_load("5d", t, {60, 5, 1, 3, -1});
    t.steps[1] = 2, t.steps[3] = 2;
    try_load("5d steps", t, {8, 6, 1, 0, 0});
  }
  {
    Map t;
    t.steps[1] = 3, t.box[1] = 9;
    try_load("steps in y", t, {16, 5});
    try_load("steps over the edge", t, {16, 27});
    try_load("steps before the edge", t, {16, -4});
    t.box[1] = 8;
    try_load("steps and a rest", t, {16, 5});
    t.steps[0] = 2;
    try_load("steps in x", t, {16, 5});
    Map o;
    o.strides[0] = 272, o.dims[0] = 61, o.dims[1] = 29;
    try_load("odd extents", o, {52, 25}, 20);
  }
  for (int swizzle = 1; swizzle <= 3; ++swizzle) {
    Map t;
    t.swizzle = static_cast<CUtensorMapSwizzle>(swizzle);
    t.box[0] = 4u << swizzle, t.box[1] = 32;
    try_load("swizzle", t, {8, 0}, 40);
    try_load("swizzle edge", t, {60, 20});
    t.box[0] = 4;
    try_load("swizzle narrow", t, {8, 0}, 40);
    t.box[0] = 4u << swizzle, t.rank = 3, t.box[1] = 5, t.box[2] = 3;
    try_load("swizzle 3d", t, {8, 1, 1});
    try_store("swizzle store", t, {8, 1, 1});
  }
  try_store("store", m, {16, 8});
  try_store("store right edge", m, {56, 8});
  try_store("store bottom edge", m, {16, 28});
  return 0;
}
