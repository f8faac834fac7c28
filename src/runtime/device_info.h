// What programs can ask about a device: properties and attributes, from the GpuSpec where it has them.
#pragma once

#include <string>
#include <utility>

#include "arch/gpu_spec.h"
#include "runtime/cuda_abi.h"

namespace muscope::runtime {

/// Major and minor number as a program sees them; 2.2 for mp_22.
std::pair<int, int> reported_capability(const arch::GpuSpec& gpu);

/// A CUDA device attribute by number (cudaDeviceAttr); false when there is none of that number. What a spec has no
/// field for is as on an H200 (tests/counters/runtime_api_h200.txt), or as on the GPU's generation; where the spec has
/// a field and no number, it is a stand-in: 1 SM of one block, clocks of 1 GHz, a bus of 128 bits, 1 MiB of L2, and
/// what a block may have for an SM.
bool device_attribute(const arch::GpuSpec& gpu, int device, int number, int& value);

/// Names of the numbers that are stand-ins, when attribute `number` (0: any) is one of them; else empty.
std::string stand_ins(const arch::GpuSpec& gpu, int number);

/// Says once in the process that the program was given stand-ins (D518), when `number` (0: all properties) is one.
void tell_stand_ins(const arch::GpuSpec& gpu, int number);

/// "0000:<bus>:00.0": invented, one bus per emulated device.
std::string pci_bus_id(int device);

void fill_properties(const arch::GpuSpec& gpu, int device, cudaDeviceProp& properties);
void fill_properties(const arch::GpuSpec& gpu, int device, DeviceProp12& properties);

}  // namespace muscope::runtime
