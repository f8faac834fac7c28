// What the functions of streams and events share with graphs.
#pragma once

#include "runtime/cuda_abi.h"

namespace muscope::runtime {

class Runtime;

/// cudaLaunchHostFunc, cudaEventRecord and cudaStreamWaitEvent behind their entries.
cudaError_t launch_host_function(Runtime& runtime, cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t record_event(Runtime& runtime, cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t wait_event(Runtime& runtime, cudaStream_t stream, cudaEvent_t event, unsigned flags);

}  // namespace muscope::runtime
