// Two files in one. As a library that is called libcublas.so, it asks for a table of functions as NVIDIA's closed
// libraries do. As a program (CLOSED_LIBRARY_PROGRAM), it calls that library, and asks for such a table itself.
#include <cstdio>
#include <cstring>

extern "C" int cudaGetExportTable(const void** table, const void* number);
extern "C" __attribute__((visibility("default"))) int call_of_the_library(int* has_table);
extern "C" int cudaIpcGetMemHandle(void* handle, void* pointer);
extern "C" __attribute__((visibility("default"))) int other_call(int depth);

#ifdef CLOSED_LIBRARY_PROGRAM
int main(int count, char** arguments) {
  int has_table = 0;
  const int code = call_of_the_library(&has_table);
  std::printf("library | code %d table %d\n", code, has_table);
  if (count > 1 && std::strcmp(arguments[1], "own") == 0) {
    const void* table = nullptr;
    const char number[16] = {1};
    std::printf("program | code %d\n", cudaGetExportTable(&table, number));
  }
  if (count > 1 && std::strcmp(arguments[1], "others") == 0) std::printf("others | code %d\n", other_call(3));
  std::puts("the rest");
}
#else
static __attribute__((noinline)) int inner(int depth) {
  char handle[64] = {};
  return depth == 0 ? cudaIpcGetMemHandle(handle, handle) : inner(depth - 1) + 0 * handle[0];
}
extern "C" int other_call(int depth) {
  volatile int code = inner(depth);  // no jump: the call is to be seen on the stack
  return code;
}
extern "C" int call_of_the_library(int* has_table) {
  const char number[16] = {2};
  const void* table = number;
  const int code = cudaGetExportTable(&table, number);
  *has_table = table != nullptr;
  return code;
}
#endif
