// Managed variables, by name and by address, from host and device, on every device. Prints what a GPU prints.
#include <cstdio>

template <typename T>
struct Holder {
  T value;
};
template <typename T>
__managed__ Holder<T> held{};
__managed__ int plain = 5;
__managed__ int row[4] = {1, 2, 3, 4};
__managed__ int* inner;

__global__ void by_address(int* p) { *p += 1; }
__global__ void by_name() { plain += 10; }
template <typename T>
__global__ void write(T value) {
  held<T>.value = value;
}
template <typename T>
__global__ void read(T* p, int* same) {
  *same = p == &held<T>.value && *p == T(7);
  *p = T(9);
}
__global__ void through(int* out) { *out = *inner; }

template <typename T>
void templates(const char* name, int* same) {
  write<T><<<1, 1>>>(T(7));
  read<T><<<1, 1>>>(&held<T>.value, same);
  const char* error = cudaGetErrorName(cudaDeviceSynchronize());
  printf("%s: %s, same %d, value %d\n", name, error, *same, static_cast<int>(held<T>.value));
}

int main() {
  inner = row + 2;
  by_address<<<1, 1>>>(&plain);
  by_name<<<1, 1>>>();
  const char* error = cudaGetErrorName(cudaDeviceSynchronize());
  printf("plain: %s %d\n", error, plain);
  int* same;
  cudaMallocManaged(&same, sizeof(int));
  templates<int>("int", same);
  templates<double>("double", same);
  through<<<1, 1>>>(same);
  error = cudaGetErrorName(cudaDeviceSynchronize());
  printf("through: %s %d\n", error, *same);
  cudaPointerAttributes attributes{};
  printf("attributes: %s", cudaGetErrorName(cudaPointerGetAttributes(&attributes, &plain)));
  printf(" type %d, one address %d\n", static_cast<int>(attributes.type),
         attributes.devicePointer == attributes.hostPointer && attributes.devicePointer == &plain);
  void* symbol = nullptr;
  printf("symbol: %s", cudaGetErrorName(cudaGetSymbolAddress(&symbol, plain)));
  printf(" same %d\n", symbol == &plain);
  std::size_t bytes = 0;
  printf("size: %s", cudaGetErrorName(cudaGetSymbolSize(&bytes, row)));
  printf(" %zu\n", bytes);
  const int value = 12;
  printf("to symbol: %s", cudaGetErrorName(cudaMemcpyToSymbol(row, &value, sizeof value, sizeof(int))));
  printf(" %d %d %d\n", row[0], row[1], row[2]);
  cudaGetLastError();
  int devices = 0;
  cudaGetDeviceCount(&devices);
  if (devices > 1) {
    cudaSetDevice(1);
    by_name<<<1, 1>>>();
    cudaDeviceSynchronize();
  } else {
    plain += 10;
  }
  printf("another device: %d\n", plain);
  return 0;
}
