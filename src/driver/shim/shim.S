// A stand-in for libcuda: every function jumps to its namesake in the engine, as those of libcudart do
// (runtime/shim/shim.S).

#define FORWARD(name, target)          \
  .globl name;                         \
  .type name, @function;               \
  .p2align 4;                          \
  name: endbr64;                       \
  jmp *target@GOTPCREL(%rip);          \
  .size name, . - name;

#define MUSCOPE_DRIVER(symbol, base, since, target) FORWARD(symbol, muscope_##target)
#define MUSCOPE_DRIVER_MISSING(symbol, base, since) FORWARD(symbol, muscope_##symbol##_missing)

  .text
#include "../api.inc"

  .section .note.GNU-stack, "", @progbits
