#include "code/system_functions.h"

namespace muscope::code {

std::span<const SystemFunction> system_functions() {
  static const SystemFunction kFunctions[] = {
      {"vprintf", {{4, 2}, {6, 2}}, 1},
      {"malloc", {{4, 2}}, 2},
      {"free", {{4, 2}}, 0},
      {"__assertfail", {{4, 2}, {6, 2}, {8, 1}, {10, 2}, {12, 2}}, 0},
      // Kernel, grid, block, dynamic shared memory.
      {"__cuda_syscall_cnpv2GetParameterBufferV2", {{4, 2}, {6, 3}, {9, 3}, {12, 1}}, 2},
      {"__cuda_syscall_cnpv2LaunchDeviceV2", {{4, 2}, {6, 2}}, 1},
      {"__cuda_syscall_cnpv2GetParameterBuffer", {{4, 1}, {5, 1}}, 2},
      // Kernel, parameters, pointers to grid and block, dynamic shared memory, stream.
      {"__cuda_syscall_cnpv2LaunchDevice", {{4, 2}, {6, 2}, {8, 2}, {10, 2}, {12, 1}, {14, 2}}, 1},
      {"__cuda_syscall_cnpv2StreamCreate", {{4, 2}, {6, 1}}, 1},
      {"__cuda_syscall_cnpv2EventCreate", {{4, 2}, {6, 1}}, 1},
      {"__cuda_syscall_cnpv2StreamDestroy", {{4, 2}}, 1},
      {"__cuda_syscall_cnpv2EventDestroy", {{4, 2}}, 1},
      {"__cuda_syscall_cnpv2EventRecord", {{4, 2}, {6, 2}}, 1},
      {"__cuda_syscall_cnpv2StreamWaitEvent", {{4, 2}, {6, 2}, {8, 1}}, 1},
      {"__cuda_syscall_cnpv2GetDevice", {{4, 2}}, 1},
      {"__cuda_syscall_cnpv2GetDeviceCount", {{4, 2}}, 1},
      {"__cuda_syscall_cnpv2GetLastError", {}, 1},
      {"__cuda_syscall_cnpv2SetLastError", {{4, 1}}, 1}};
  return kFunctions;
}

}  // namespace muscope::code
