// What real programs do beside launching kernels, step by step as the command line says:
//
//   process_cases launch launch _exit:3
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

__global__ void scale(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2.0f;
}

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {  // spins here
  }
}

__global__ void count_up(int* out, int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) sum = sum * 3 + i;
  *out = sum;
}

__global__ void write_at(int* address) { *address = 1; }  // faults here

static const int kElements = 256;

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(error));
  std::fflush(stdout);
}

static void launch() {
  float host[kElements];
  for (int i = 0; i < kElements; ++i) host[i] = static_cast<float>(i);
  float* data = nullptr;
  check(cudaMalloc(&data, sizeof host));
  check(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));  // copies to the device
  scale<<<2, 128>>>(data, kElements);
  check(cudaGetLastError());
  check(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  check(cudaFree(data));
  if (host[7] != 14.0f) std::puts("wrong result");
}

static void spin() {
  int* flag = nullptr;
  check(cudaMalloc(&flag, sizeof(int)));
  check(cudaMemset(flag, 0, sizeof(int)));
  wait_for<<<1, 32>>>(flag);
  check(cudaDeviceSynchronize());
}

static void long_kernel() {
  int* out = nullptr;
  check(cudaMalloc(&out, sizeof(int)));
  count_up<<<1, 32>>>(out, 2000000000);
  check(cudaDeviceSynchronize());
}

extern "C" __attribute__((noinline)) void read_device_memory(float* data) {
  volatile float value = data[3];  // host reads here
  (void)value;
}

static void touch() {
  float* data = nullptr;
  check(cudaMalloc(&data, 64));
  read_device_memory(data);
}

static void fault() {
  write_at<<<1, 1>>>(reinterpret_cast<int*>(16));
  check(cudaDeviceSynchronize());
}

static void refused() {
  write_at<<<1, 1025>>>(nullptr);
  write_at<<<0, 1>>>(nullptr);
}

static void own_handler(int number) {
  char text[] = "own handler 00\n";
  text[12] = static_cast<char>('0' + number / 10);
  text[13] = static_cast<char>('0' + number % 10);
  if (write(1, text, sizeof text - 1) < 0) _exit(8);
  _exit(7);
}

static void wait_for_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static char* program = nullptr;

static void run(int count, char** words) {
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t colon = word.find(':');
    const std::string name = word.substr(0, colon);
    const int number = colon == std::string::npos ? 1 : std::atoi(word.c_str() + colon + 1);
    if (name == "launch") {
      for (int k = 0; k < number; ++k) launch();
    } else if (name == "query") {
      int devices = 0;
      check(cudaGetDeviceCount(&devices));
    } else if (name == "spin") {
      spin();
    } else if (name == "long") {
      long_kernel();
    } else if (name == "touch") {
      touch();
    } else if (name == "fault") {
      fault();
    } else if (name == "refused") {
      refused();
    } else if (name == "exit") {
      std::exit(number);
    } else if (name == "_exit") {
      _exit(number);
    } else if (name == "abort") {
      std::abort();
    } else if (name == "null") {
      *static_cast<volatile int*>(nullptr) = 1;
    } else if (name == "kill") {
      kill(getpid(), number);
    } else if (name == "handle") {
      signal(number, own_handler);
    } else if (name == "sleep") {
      usleep(static_cast<useconds_t>(number) * 1000);
    } else if (name == "say") {
      std::puts(word.c_str() + colon + 1), std::fflush(stdout);
    } else if (name == "fork") {
      const pid_t child = fork();
      if (child == 0) {
        run(count - i - 1, words + i + 1);
        std::exit(0);
      }
      wait_for_child(child);
      return;
    } else if (name == "exec") {
      words[i] = program;
      execv("/proc/self/exe", words + i);
      std::exit(9);
    } else if (name == "threads") {
      std::vector<std::thread> threads;
      for (int t = 0; t < number; ++t) {
        threads.emplace_back([] {
          for (int k = 0; k < 5; ++k) launch();
        });
      }
      for (std::thread& t : threads) t.join();
    } else {
      std::fprintf(stderr, "unknown step %s\n", word.c_str());
      std::exit(99);
    }
  }
}

int main(int argc, char** argv) {
  program = argv[0];
  run(argc - 1, argv + 1);
  return 0;
}
