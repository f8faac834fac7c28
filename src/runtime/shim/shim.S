// A stand-in for libcudart: every function jumps to its namesake in the engine. A jump needs no signature, keeps all
// arguments where they are, and leaves the program's return address on the stack, where the engine reads it.
// Compiled once per soname, with MUSCOPE_SHIM set to 11, 12 or 13.

#define FORWARD_ALL(name, target) FORWARD(name, target)
#define FORWARD_ONLY11(name, target)
#define FORWARD_ONLY12(name, target)
#define FORWARD_ONLY13(name, target)
#define FORWARD_UNTIL12(name, target)
#define FORWARD_SINCE12(name, target)
#if MUSCOPE_SHIM == 11
#undef FORWARD_ONLY11
#define FORWARD_ONLY11(name, target) FORWARD(name, target)
#endif
#if MUSCOPE_SHIM == 12
#undef FORWARD_ONLY12
#define FORWARD_ONLY12(name, target) FORWARD(name, target)
#endif
#if MUSCOPE_SHIM == 13
#undef FORWARD_ONLY13
#define FORWARD_ONLY13(name, target) FORWARD(name, target)
#endif
#if MUSCOPE_SHIM <= 12
#undef FORWARD_UNTIL12
#define FORWARD_UNTIL12(name, target) FORWARD(name, target)
#endif
#if MUSCOPE_SHIM >= 12
#undef FORWARD_SINCE12
#define FORWARD_SINCE12(name, target) FORWARD(name, target)
#endif

#define FORWARD(name, target)          \
  .globl name;                         \
  .type name, @function;               \
  .p2align 4;                          \
  name: endbr64;                       \
  movq muscope_runtime_copy@gottpoff(%rip), %r11; \
  movl $0, %fs:(%r11);                 \
  jmp *target@GOTPCREL(%rip);          \
  .size name, . - name;

#define MUSCOPE_API(shims, name, target) FORWARD_##shims(name, muscope_##target)
#define MUSCOPE_MISSING(shims, name) FORWARD_##shims(name, muscope_##name##_missing)

  .text
#include "../api.inc"

  .section .note.GNU-stack, "", @progbits
