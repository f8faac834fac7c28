// libcuda.so for programs that open it by that name: what it needs, libcuda.so.1, has the functions.
  .section .note.GNU-stack, "", @progbits
