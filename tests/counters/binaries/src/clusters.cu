// Kernels launched in clusters of thread blocks: of two by __cluster_dims__, of one and two by a launch attribute, and, when
// the argument "sync" is given, one whose blocks wait for each other.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>

__global__ void __cluster_dims__(2, 1, 1) pairs(int* out) { out[blockIdx.x] = static_cast<int>(blockIdx.x) + 10; }

__global__ void plain(int* out) { out[blockIdx.x] = static_cast<int>(blockIdx.x) + 20; }

__global__ void __cluster_dims__(2, 1, 1) waits(int* out) {
  cooperative_groups::this_cluster().sync();
  out[blockIdx.x] = static_cast<int>(blockIdx.x) + 30;
}

namespace {

cudaError_t launch_plain(int* out, unsigned cluster, unsigned blocks) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(1);
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, plain, out);
}

bool holds(const int* device_out, int first) {
  int out[4] = {};
  if (cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  for (int i = 0; i < 4; ++i)
    if (out[i] != first + i) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int* out = nullptr;
  bool ok = cudaMalloc(&out, 4 * sizeof(int)) == cudaSuccess;
  ok = ok && launch_plain(out, 1, 4) == cudaSuccess && holds(out, 20);
  pairs<<<4, 1>>>(out);
  ok = ok && cudaGetLastError() == cudaSuccess && holds(out, 10);
  ok = ok && launch_plain(out, 2, 4) == cudaSuccess && holds(out, 20);
  // A cluster is whole.
  pairs<<<3, 1>>>(out);
  ok = ok && cudaGetLastError() == cudaErrorInvalidClusterSize;
  ok = ok && launch_plain(out, 2, 3) == cudaErrorInvalidClusterSize && cudaGetLastError() != cudaSuccess;
  cudaFuncAttributes attributes = {};
  ok = ok && cudaFuncGetAttributes(&attributes, pairs) == cudaSuccess && attributes.requiredClusterWidth == 2 &&
       attributes.requiredClusterHeight == 1 && attributes.requiredClusterDepth == 1 && attributes.clusterDimMustBeSet == 1;
  ok = ok && cudaFuncGetAttributes(&attributes, plain) == cudaSuccess && attributes.requiredClusterWidth == 0 &&
       attributes.clusterDimMustBeSet == 0;
  if (argc > 1 && std::strcmp(argv[1], "sync") == 0) {
    waits<<<4, 1>>>(out);
    ok = ok && cudaGetLastError() == cudaSuccess && holds(out, 30);
  }
  std::puts(ok ? "clusters PASS" : "clusters FAIL");
  return ok ? 0 : 1;
}
