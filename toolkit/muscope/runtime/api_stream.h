// Runtime API: Streams and events.
#ifndef MUSCOPE_RUNTIME_API_STREAM_H
#define MUSCOPE_RUNTIME_API_STREAM_H

#include "api_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

MUSCOPE_API cudaError_t cudaStreamCreate(cudaStream_t* stream);
MUSCOPE_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
MUSCOPE_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
MUSCOPE_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
MUSCOPE_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
MUSCOPE_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* stream_id);
MUSCOPE_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
MUSCOPE_API cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src);
MUSCOPE_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attr, cudaLaunchAttributeValue* value_out);
MUSCOPE_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attr, const cudaLaunchAttributeValue* value);
MUSCOPE_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
MUSCOPE_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data, unsigned int flags);
MUSCOPE_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
MUSCOPE_API cudaError_t cudaStreamQuery(cudaStream_t stream);
MUSCOPE_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* dev_ptr, size_t length MUSCOPE_DEFAULT(0), unsigned int flags MUSCOPE_DEFAULT(4));
MUSCOPE_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
MUSCOPE_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode);
MUSCOPE_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
MUSCOPE_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* capture_status);
MUSCOPE_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* capture_status_out, unsigned long long* id_out MUSCOPE_DEFAULT(0), cudaGraph_t* graph_out MUSCOPE_DEFAULT(0), const cudaGraphNode_t** dependencies_out MUSCOPE_DEFAULT(0), const cudaGraphEdgeData** edge_data_out MUSCOPE_DEFAULT(0), size_t* num_dependencies_out MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* dependency_data, size_t num_dependencies, unsigned int flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaEventCreate(cudaEvent_t* event);
MUSCOPE_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
MUSCOPE_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream MUSCOPE_DEFAULT(0), unsigned int flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaEventQuery(cudaEvent_t event);
MUSCOPE_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
MUSCOPE_API cudaError_t cudaEventDestroy(cudaEvent_t event);
MUSCOPE_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);

#if defined(__cplusplus)
}
#endif

#endif
