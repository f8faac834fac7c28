// What programs can ask about a device: properties and attributes, from the GpuSpec where it has them.
#pragma once

#include <string>
#include <utility>

#include "arch/gpu_spec.h"
#include "runtime/cuda_abi.h"

namespace muscope::runtime {

/// Major and minor number as a program sees them; 2.2 for mp_22.
std::pair<int, int> reported_capability(const arch::GpuSpec& gpu);

/// A CUDA device attribute by number (cudaDeviceAttr); false when there is none of that number. Numbers that the spec
/// does not cover are those of an H200 (tests/counters/runtime_api_h200.txt), or of what generation the GPU belongs to.
bool device_attribute(const arch::GpuSpec& gpu, int device, int number, int& value);

/// "0000:<bus>:00.0": invented, one bus per emulated device.
std::string pci_bus_id(int device);

void fill_properties(const arch::GpuSpec& gpu, int device, cudaDeviceProp& properties);
void fill_properties(const arch::GpuSpec& gpu, int device, DeviceProp12& properties);

}  // namespace muscope::runtime
