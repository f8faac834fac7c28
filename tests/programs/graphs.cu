// Task graphs, call by call: what each returns, and what the graph then did. The same lines on an H200 are kept in
// tests/counters/graphs_h200.txt.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add(int* p, int value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) p[i] += value;
}
__global__ void scale(int* p, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) p[i] *= 2;
}
__device__ int variable[4];

static const char* group = "";
#define R(call)                                         \
  do {                                                  \
    const int code = static_cast<int>(call);            \
    std::printf("%s | %s -> %d\n", group, #call, code); \
    std::fflush(stdout);                                \
    cudaGetLastError();                                 \
  } while (0)
#define V(format, ...) (std::printf("%s | " format "\n", group, __VA_ARGS__), std::fflush(stdout))

constexpr int kCount = 1000;
static int* device_a;
static int* device_b;
static int host_b[kCount];

static void show(const char* what) {
  int first[2] = {}, second[2] = {};
  cudaMemcpy(first, device_a, sizeof first, cudaMemcpyDeviceToHost);
  cudaMemcpy(second, device_b, sizeof second, cudaMemcpyDeviceToHost);
  V("%s: %d %d, %d %d", what, first[0], first[1], second[0], second[1]);
}
static void clear() {
  cudaMemset(device_a, 0, sizeof host_b);
  cudaMemset(device_b, 0, sizeof host_b);
}

static void captured() {
  group = "capture";
  clear();
  cudaStream_t one, two;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamCaptureStatus status;
  R(cudaStreamIsCapturing(one, &status));
  V("status %d", status);
  R(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  R(cudaStreamIsCapturing(one, &status));
  V("status %d", status);
  R(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  R(cudaMemsetAsync(device_a, 1, sizeof host_b, one));
  add<<<4, 256, 0, one>>>(device_a, 5, kCount);
  R(cudaEventRecord(fork, one));
  R(cudaStreamWaitEvent(two, fork, 0));
  R(cudaMemcpyAsync(device_b, device_a, sizeof host_b, cudaMemcpyDeviceToDevice, two));
  scale<<<4, 256, 0, one>>>(device_a, kCount);
  add<<<4, 256, 0, two>>>(device_b, 7, kCount);
  R(cudaEventRecord(join, two));
  R(cudaStreamWaitEvent(one, join, 0));
  R(cudaLaunchHostFunc(one, [](void* data) { ++*static_cast<int*>(data); }, host_b));
  cudaGraph_t graph;
  R(cudaStreamEndCapture(one, &graph));
  show("nothing has run");
  size_t nodes = 0, edges = 0, roots = 0;
  R(cudaGraphGetNodes(graph, nullptr, &nodes));
  R(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  R(cudaGraphGetRootNodes(graph, nullptr, &roots));
  V("%zu nodes, %zu edges, %zu roots", nodes, edges, roots);
  cudaGraphNode_t all[16];
  nodes = 16;
  cudaGraphGetNodes(graph, all, &nodes);
  int kinds[16] = {};
  for (size_t n = 0; n < nodes; ++n) {
    cudaGraphNodeType type;
    cudaGraphNodeGetType(all[n], &type);
    ++kinds[type];
  }
  V("%d kernels, %d copies, %d fills, %d host functions", kinds[0], kinds[1], kinds[2], kinds[3]);
  cudaGraphExec_t exec;
  R(cudaGraphInstantiate(&exec, graph, 0));
  host_b[0] = 0;
  R(cudaGraphLaunch(exec, one));
  R(cudaGraphLaunch(exec, one));
  R(cudaStreamSynchronize(one));
  V("host function ran %d times", host_b[0]);
  show("twice");
  R(cudaGraphExecDestroy(exec));
  R(cudaGraphDestroy(graph));

  group = "capture errors";
  R(cudaStreamEndCapture(one, &graph));
  R(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  R(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  R(cudaStreamSynchronize(one));
  R(cudaMemsetAsync(device_a, 1, 4, one));
  R(cudaStreamEndCapture(one, &graph));
  V("graph %d", graph != nullptr);
  R(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  R(cudaStreamQuery(one));
  R(cudaStreamEndCapture(one, &graph));
  R(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  R(cudaDeviceSynchronize());
  R(cudaStreamEndCapture(one, &graph));
  R(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  R(cudaMemsetAsync(device_a, 1, 4, nullptr));
  R(cudaStreamEndCapture(one, &graph));
  R(cudaEventRecord(fork, two));
  R(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  R(cudaStreamWaitEvent(one, fork, 0));
  R(cudaStreamEndCapture(one, &graph));
  R(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  R(cudaEventRecord(fork, one));
  R(cudaEventQuery(fork));
  R(cudaEventSynchronize(fork));
  R(cudaStreamWaitEvent(two, fork, 0));
  R(cudaMemsetAsync(device_b, 1, 4, two));
  R(cudaStreamEndCapture(two, &graph));
  R(cudaStreamEndCapture(one, &graph));
  R(cudaStreamIsCapturing(two, &status));
  V("status %d", status);
  R(cudaStreamBeginCapture(one, static_cast<cudaStreamCaptureMode>(7)));
  R(cudaStreamEndCapture(one, nullptr));
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
}

static void built() {
  group = "explicit";
  clear();
  cudaGraph_t graph;
  R(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill, first, second, copy, host, empty, symbol;
  cudaMemsetParams set = {};
  set.dst = device_a;
  set.value = 0x01020304;
  set.elementSize = 4;
  set.width = kCount;
  set.height = 1;
  R(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
  int value = 3, count = kCount;
  void* arguments[] = {&device_a, &value, &count};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(4);
  kernel.blockDim = dim3(256);
  kernel.kernelParams = arguments;
  R(cudaGraphAddKernelNode(&first, graph, &fill, 1, &kernel));
  value = 100;
  R(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  R(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, device_b, device_a, sizeof host_b, cudaMemcpyDeviceToDevice));
  cudaHostNodeParams function = {[](void* data) { *static_cast<int*>(data) += 10; }, host_b};
  R(cudaGraphAddHostNode(&host, graph, nullptr, 0, &function));
  R(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  R(cudaGraphAddDependencies(graph, &copy, &empty, nullptr, 1));
  R(cudaGraphAddDependencies(graph, &copy, &empty, nullptr, 1));
  R(cudaGraphAddDependencies(graph, &copy, &copy, nullptr, 1));
  R(cudaGraphRemoveDependencies(graph, &copy, &empty, nullptr, 1));
  R(cudaGraphRemoveDependencies(graph, &copy, &empty, nullptr, 1));
  R(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, variable, device_b, 16, 0, cudaMemcpyDeviceToDevice));
  R(cudaGraphAddDependencies(graph, &copy, &symbol, nullptr, 1));
  cudaGraphNode_t same[] = {first, first}, found;
  R(cudaGraphAddEmptyNode(&found, graph, same, 2));
  cudaKernelNodeParams seen = {};
  R(cudaGraphKernelNodeGetParams(second, &seen));
  V("grid %u block %u value %d", seen.gridDim.x, seen.blockDim.x, *static_cast<int*>(seen.kernelParams[1]));
  cudaGraphExec_t exec;
  R(cudaGraphInstantiate(&exec, graph, 0));
  host_b[0] = 1;
  R(cudaGraphLaunch(exec, nullptr));
  R(cudaDeviceSynchronize());
  show("after");
  int symbols[4] = {};
  cudaMemcpyFromSymbol(symbols, variable, sizeof symbols);
  V("host %d, symbol %d", host_b[0], symbols[3]);

  group = "changes";
  value = 1000;
  R(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
  R(cudaGraphNodeSetEnabled(exec, first, 0));
  R(cudaGraphNodeSetEnabled(exec, host, 0));
  unsigned enabled = 7;
  R(cudaGraphNodeGetEnabled(exec, first, &enabled));
  V("enabled %u", enabled);
  R(cudaGraphLaunch(exec, nullptr));
  R(cudaDeviceSynchronize());
  show("after");
  set.value = 1;
  R(cudaGraphExecMemsetNodeSetParams(exec, fill, &set));
  R(cudaGraphLaunch(exec, nullptr));
  R(cudaDeviceSynchronize());
  show("after");
  cudaGraph_t clone;
  R(cudaGraphClone(&clone, graph));
  R(cudaGraphNodeFindInClone(&found, second, clone));
  value = 20000;
  R(cudaGraphKernelNodeSetParams(found, &kernel));
  cudaGraphExecUpdateResultInfo info;
  R(cudaGraphExecUpdate(exec, clone, &info));
  V("update %d", info.result);
  R(cudaGraphLaunch(exec, nullptr));
  R(cudaDeviceSynchronize());
  show("after");
  R(cudaGraphDestroyNode(found));
  R(cudaGraphExecUpdate(exec, clone, &info));
  V("update %d", info.result);
  R(cudaGraphExecDestroy(exec));

  group = "nested";
  cudaGraph_t outer;
  R(cudaGraphCreate(&outer, 0));
  cudaGraphNode_t child, after;
  R(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  R(cudaGraphAddKernelNode(&after, outer, &child, 1, &kernel));
  R(cudaGraphAddDependencies(outer, &after, &child, nullptr, 1));
  R(cudaGraphInstantiate(&exec, outer, 0));
  R(cudaGraphRemoveDependencies(outer, &after, &child, nullptr, 1));
  R(cudaGraphInstantiate(&exec, outer, 0));
  R(cudaGraphLaunch(exec, nullptr));
  R(cudaDeviceSynchronize());
  show("after");
  R(cudaGraphExecDestroy(exec));
  R(cudaGraphDestroy(outer));
  R(cudaGraphDestroy(clone));
  R(cudaGraphDestroy(graph));
  R(cudaGraphDestroy(nullptr));
  R(cudaGraphLaunch(nullptr, nullptr));
  R(cudaGraphCreate(nullptr, 0));
  R(cudaGraphCreate(&graph, 1));
}

static void allocates() {
  group = "memory";
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  R(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* memory = nullptr;
  R(cudaMallocAsync(&memory, sizeof host_b, stream));
  V("pointer %d", memory != nullptr);
  R(cudaMemsetAsync(memory, 0, sizeof host_b, stream));
  add<<<4, 256, 0, stream>>>(memory, 42, kCount);
  R(cudaMemcpyAsync(device_a, memory, sizeof host_b, cudaMemcpyDeviceToDevice, stream));
  R(cudaFreeAsync(memory, stream));
  cudaGraph_t graph;
  R(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  R(cudaGraphInstantiate(&exec, graph, 0));
  for (int turn = 0; turn < 3; ++turn) R(cudaGraphLaunch(exec, stream));
  R(cudaStreamSynchronize(stream));
  show("after");
  R(cudaGraphExecDestroy(exec));
  R(cudaGraphDestroy(graph));
  cudaStreamDestroy(stream);

  group = "objects";
  static int destroyed = 0;
  cudaUserObject_t object;
  R(cudaUserObjectCreate(
      &object, &destroyed, [](void* data) { ++*static_cast<int*>(data); }, 1, cudaUserObjectNoDestructorSync));
  R(cudaGraphCreate(&graph, 0));
  R(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  V("destroyed %d", destroyed);
  R(cudaGraphDestroy(graph));
  V("destroyed %d", destroyed);
}

int main() {
  cudaMalloc(&device_a, sizeof host_b);
  cudaMalloc(&device_b, sizeof host_b);
  captured();
  built();
  allocates();
  cudaFree(device_a);
  cudaFree(device_b);
  return 0;
}
