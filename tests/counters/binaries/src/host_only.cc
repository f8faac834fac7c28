// A program with no CUDA in it.
#include <cstdio>
int main() {
  std::puts("host PASS");
  return 0;
}
