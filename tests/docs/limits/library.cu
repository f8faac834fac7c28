// A library of the CUDA toolkit.
#include <cublas_v2.h>
int main() { return 0; }
