// Warps that wait in loops for what another warp, block or lane does: nobody may wait for ever, whoever comes first.
// The same output on every GPU that schedules the threads of a warp independently (from compute capability 7.0 on).
#include <cstdio>
#include <cuda/atomic>

/// A producer and a consumer warp of one block.
__global__ void shared_flag(int*, int* out, bool first_waits) {
  __shared__ volatile int flag;
  __shared__ volatile int data[32];
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if ((warp == 0) == first_waits) {
    while (flag == 0) {
    }
    __threadfence_block();
    out[lane] = data[lane];
  } else {
    data[lane] = static_cast<int>(lane) * 3;
    __threadfence_block();
    __syncwarp();
    if (lane == 0) flag = 1;
  }
}

/// Two warps that wait for one another, in turns.
__global__ void turns(int*, int* out, bool first_waits) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  const int warp = (threadIdx.x / 32 == 0) == first_waits;
  if (threadIdx.x % 32 != 0) return;
  for (int n = 0; n < 100; ++n) {
    while (turn != 2 * n + warp) {
    }
    out[0] += 1 + warp;
    __threadfence_block();
    turn = 2 * n + warp + 1;
  }
}

/// All other warps of a block are counted by the one that waits.
__global__ void counter(int*, int* out, bool first_waits) {
  __shared__ int arrived;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  const unsigned warp = threadIdx.x / 32, waiting = first_waits ? 0 : blockDim.x / 32 - 1;
  if (warp == waiting) {
    while (atomicAdd(&arrived, 0) < static_cast<int>(blockDim.x) - 32) {
    }
    out[threadIdx.x % 32] = arrived;
  } else {
    atomicAdd(&arrived, 1);
  }
}

/// Whole warps that look together, with pauses.
__global__ void votes(int* flags, int* out, bool first_waits) {
  volatile int* const seen = flags;
  const unsigned lane = threadIdx.x % 32;
  if ((threadIdx.x / 32 == 0) == first_waits) {
    while (!__any_sync(~0u, seen[lane] != 0)) __nanosleep(20);
    out[lane] = 11;
  } else {
    seen[lane] = lane == 31;
  }
}

__global__ void global_flag(int* flag, int* out, bool first_waits) {
  volatile int* const seen = flag;
  if (threadIdx.x != 0) return;
  if ((blockIdx.x == 0) == first_waits) {
    while (*seen == 0) {
    }
    out[0] = 8;
  } else if (blockIdx.x < 2) {
    *seen = 1;
  }
}

__global__ void atomic_flag(int* flag, int* out, bool first_waits) {
  if (threadIdx.x != 0) return;
  if ((blockIdx.x == 0) == first_waits) {
    while (atomicAdd(flag, 0) == 0) {
    }
    out[0] = 7;
  } else {
    atomicExch(flag, 1);
  }
}

__global__ void acquired_flag(int* flag, int* out, bool first_waits) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> seen(*flag);
  if (threadIdx.x != 0) return;
  if ((blockIdx.x == 0) == first_waits) {
    while (seen.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = 9;
  } else {
    seen.store(1, cuda::memory_order_release);
  }
}

/// Each block adds to the sum of the one before it (decoupled look-back); the last blocks may start first.
__global__ void look_back(int* state, int* out, bool in_order) {
  volatile int* const sums = state;
  const int block = static_cast<int>(in_order ? blockIdx.x : gridDim.x - 1 - blockIdx.x);
  if (threadIdx.x != 0) return;
  int before = 0;
  if (block > 0) {
    int seen = 0;
    while ((seen = sums[block - 1]) == 0) {
    }
    before = seen - 1;
  }
  if (block % 32 == 31) out[block / 32] = before + block;
  __threadfence();
  sums[block] = before + block + 1;
}

/// Two blocks that both write while they wait.
__global__ void both(int* flags, int* out, bool) {
  if (threadIdx.x != 0) return;
  volatile int* const mine = flags + 32 * blockIdx.x;
  volatile int* const other = flags + 32 * (1 - blockIdx.x);
  *mine = 1;
  for (int n = 0; *other == 0; ++n) out[8 + blockIdx.x] = n;
  out[blockIdx.x] = 1;
}

/// Lanes of one warp that exclude one another.
__global__ void lock(int* lock, int* out, bool) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    out[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
    done = true;
  }
}

/// Lanes that wait for another lane of their warp.
__global__ void lanes(int*, int* out, bool first_waits) {
  __shared__ volatile int flag;
  flag = 0;
  __syncwarp();
  if ((threadIdx.x < 16) == first_waits) {
    while (flag == 0) {
    }
    out[threadIdx.x % 16] = 5;
  } else if (threadIdx.x % 16 == 15) {
    flag = 1;
  }
}

using Kernel = void (*)(int*, int*, bool);

void run(const char* name, Kernel kernel, unsigned blocks, unsigned threads) {
  for (const bool order : {true, false}) {
    int *device, host[1024];
    cudaMalloc(&device, sizeof host);
    cudaMemset(device, 0, sizeof host);
    kernel<<<blocks, threads>>>(device, device + 512, order);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%s: %s %d %d %d\n", name, cudaGetErrorString(error), host[512], host[513], host[512 + 31]);
    cudaFree(device);
  }
}

int main() {
  run("shared flag", shared_flag, 1, 64);
  run("turns", turns, 1, 64);
  run("counter", counter, 1, 256);
  run("votes", votes, 1, 64);
  run("global flag", global_flag, 2, 32);
  run("atomic flag", atomic_flag, 2, 32);
  run("acquired flag", acquired_flag, 2, 32);
  run("look-back", look_back, 64, 64);
  run("both", both, 2, 32);
  run("lock", lock, 2, 64);
  run("lanes", lanes, 1, 32);
}
