// What virtual memory management and several devices answer, call by call: one line "group | call -> code" or
// "group | value = number" each; every group in a process of its own, since a fault ends a context. It needs no nvcc.
// On a machine with two GPUs that reach each other:
//   g++ -std=c++17 -I /usr/local/cuda/include tests/programs/device_memory.cc -o device_memory -lcuda -lcudart
// Under muscope, with --devices 2, it must print tests/programs/device_memory.txt.
#include "device_memory.h"

#include <cstdint>
#include <cstring>

namespace {

constexpr size_t kUnit = size_t{2} << 20;

CUmemAllocationProp on_device(int device) {
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  return prop;
}

CUmemAccessDesc access(int device, CUmemAccess_flags flags) {
  CUmemAccessDesc desc = {};
  desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  desc.location.id = device;
  desc.flags = flags;
  return desc;
}

void granularity() {
  start("granularity", 0);
  size_t bytes = 0;
  CUmemAllocationProp prop = on_device(0);
  R(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  V(bytes);
  R(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  V(bytes);
  R(cuMemGetAllocationGranularity(&bytes, &prop, static_cast<CUmemAllocationGranularity_flags>(2)));
  R(cuMemGetAllocationGranularity(nullptr, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  R(cuMemGetAllocationGranularity(&bytes, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  prop.location.id = 99;
  R(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  prop = on_device(0);
  prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  R(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  prop = on_device(0);
  prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
  R(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

void reservations() {
  start("reservations", 0);
  CUdeviceptr a = 0, b = 0, c = 0;
  R(cuMemAddressReserve(nullptr, kUnit, 0, 0, 0));
  R(cuMemAddressReserve(&a, 0, 0, 0, 0));
  R(cuMemAddressReserve(&a, 1, 0, 0, 0));
  R(cuMemAddressReserve(&a, kUnit / 2, 0, 0, 0));
  R(cuMemAddressReserve(&a, kUnit, 3, 0, 0));
  R(cuMemAddressReserve(&a, kUnit, 0, 0, 1));
  R(cuMemAddressReserve(&a, kUnit, 4096, 0, 0));
  V(a % kUnit);
  R(cuMemAddressReserve(&b, 4 * kUnit, size_t{1} << 30, 0, 0));
  V(b % (size_t{1} << 30));
  R(cuMemAddressReserve(&c, kUnit, 0, b, 0));
  V(c == b);
  R(cuMemAddressFree(c, kUnit));
  R(cuMemAddressReserve(&c, kUnit, 0, b + 1, 0));
  R(cuMemAddressFree(c, kUnit));
  R(cuMemAddressReserve(&c, kUnit, 0, b + 8 * kUnit, 0));
  V(c == b + 8 * kUnit);
  R(cuMemAddressFree(0, kUnit));
  R(cuMemAddressFree(b, 0));
  R(cuMemAddressFree(b, 2 * kUnit));
  R(cuMemAddressFree(b + kUnit, 3 * kUnit));
  R(cuMemAddressFree(b, 4 * kUnit));
  R(cuMemAddressFree(b, 4 * kUnit));
  R(cuMemAddressFree(c, kUnit));
  R(cuMemAddressFree(a, kUnit));
  R(cuMemAddressReserve(&a, size_t{1} << 40, 0, 0, 0));
  R(cuMemAddressFree(a, size_t{1} << 40));
}

void handles() {
  start("handles", 0);
  CUmemGenericAllocationHandle h = 0, again = 0;
  CUmemAllocationProp prop = on_device(0), got = {};
  size_t before = 0, after = 0, total = 0;
  R(cuMemCreate(nullptr, kUnit, &prop, 0));
  R(cuMemCreate(&h, 0, &prop, 0));
  R(cuMemCreate(&h, 4096, &prop, 0));
  R(cuMemCreate(&h, kUnit + 1, &prop, 0));
  R(cuMemCreate(&h, kUnit, nullptr, 0));
  R(cuMemCreate(&h, kUnit, &prop, 1));
  R(cuMemCreate(&h, size_t{1} << 45, &prop, 0));
  prop.location.id = 99;
  R(cuMemCreate(&h, kUnit, &prop, 0));
  prop = on_device(0);
  prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  R(cuMemCreate(&h, kUnit, &prop, 0));
  prop = on_device(0);
  R(cuMemGetInfo(&before, &total));
  R(cuMemCreate(&h, 32 * kUnit, &prop, 0));
  R(cuMemGetInfo(&after, &total));
  V((before - after) / kUnit);
  R(cuMemGetAllocationPropertiesFromHandle(&got, h));
  V(got.type);
  V(got.requestedHandleTypes);
  V(got.location.type);
  V(got.location.id);
  R(cuMemGetAllocationPropertiesFromHandle(nullptr, h));
  R(cuMemGetAllocationPropertiesFromHandle(&got, 0));
  R(cuMemRetainAllocationHandle(&again, nullptr));
  R(cuMemRelease(h));
  R(cuMemRelease(h));
  R(cuMemRelease(0));
}

void maps() {
  start("maps", 0);
  CUdeviceptr a = 0, base = 0, plain = 0;
  CUmemGenericAllocationHandle h = 0, two = 0, again = 0;
  const CUmemAllocationProp prop = on_device(0);
  const CUmemAccessDesc both = access(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  unsigned long long flags = 9;
  unsigned number = 0;
  int value = 0;
  size_t bytes = 0;
  CUmemLocation here = {};
  here.type = CU_MEM_LOCATION_TYPE_DEVICE;
  R(cuMemAlloc(&plain, kUnit));
  R(cuMemAddressReserve(&a, 8 * kUnit, 0, 0, 0));
  R(cuMemCreate(&h, 2 * kUnit, &prop, 0));
  R(cuMemMap(a, 2 * kUnit, kUnit, h, 0));
  R(cuMemMap(a, kUnit, kUnit, h, 0));
  R(cuMemMap(a, 0, 0, h, 0));
  R(cuMemMap(a, kUnit / 2, 0, h, 0));
  R(cuMemMap(a, 4 * kUnit, 0, h, 0));
  R(cuMemMap(a, 2 * kUnit, 0, 0, 0));
  R(cuMemMap(a, 2 * kUnit, 0, h, 1));
  R(cuMemMap(a + 1, 2 * kUnit, 0, h, 0));
  R(cuMemMap(0, 2 * kUnit, 0, h, 0));
  R(cuMemMap(plain, 2 * kUnit, 0, h, 0));
  R(cuMemSetAccess(a, 2 * kUnit, &both, 1));
  R(cuMemMap(a, 2 * kUnit, 0, h, 0));
  R(cuMemMap(a, 2 * kUnit, 0, h, 0));
  R(cuMemMap(a + kUnit, 2 * kUnit, 0, h, 0));
  R(cuMemMap(a + 4 * kUnit, kUnit, 0, h, 0));
  R(cuMemUnmap(a + 4 * kUnit, kUnit));
  R(cuMemMap(a + 4 * kUnit, 2 * kUnit, 0, h, 0));
  R(cuMemGetAccess(&flags, &here, a));
  V(flags);
  R(cuMemsetD8(a, 1, 16));
  R(cuMemSetAccess(a, 2 * kUnit, nullptr, 1));
  R(cuMemSetAccess(a, 2 * kUnit, &both, 0));
  R(cuMemSetAccess(a, 0, &both, 1));
  R(cuMemSetAccess(a, kUnit / 2, &both, 1));
  R(cuMemSetAccess(a, kUnit, &both, 1));
  R(cuMemGetAccess(&flags, &here, a));
  V(flags);
  R(cuMemSetAccess(a, 4 * kUnit, &both, 1));
  R(cuMemSetAccess(plain, kUnit, &both, 1));
  CUmemAccessDesc wrong = access(0, static_cast<CUmemAccess_flags>(2));
  R(cuMemSetAccess(a, 2 * kUnit, &wrong, 1));
  wrong = access(99, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  R(cuMemSetAccess(a, 2 * kUnit, &wrong, 1));
  R(cuMemSetAccess(a, 2 * kUnit, &both, 1));
  R(cuMemSetAccess(a + 4 * kUnit, 2 * kUnit, &both, 1));
  R(cuMemGetAccess(&flags, &here, a + 4));
  V(flags);
  R(cuMemGetAccess(&flags, &here, a + 2 * kUnit));
  R(cuMemGetAccess(&flags, &here, plain));
  R(cuMemGetAccess(nullptr, &here, a));
  R(cuMemGetAccess(&flags, nullptr, a));
  // One memory at two addresses.
  R(cuMemsetD32(a, 7, 4));
  R(cuMemcpyDtoH(&value, a + 4 * kUnit, 4));
  V(value);
  R(launch(store, a + 4 * kUnit + 4, 11));
  R(cuMemcpyDtoH(&value, a + 4, 4));
  V(value);
  // What is known of it.
  R(cuMemRetainAllocationHandle(&again, pointer_of(a + 100)));
  V(again == h);
  R(cuMemRelease(again));
  R(cuMemRetainAllocationHandle(&again, pointer_of(a + 2 * kUnit)));
  R(cuMemRetainAllocationHandle(&again, pointer_of(plain)));
  R(cuMemGetAddressRange(&base, &bytes, a + 100));
  V(base - a);
  V(bytes);
  R(cuMemGetAddressRange(&base, &bytes, a + 2 * kUnit));
  R(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 100));
  V(number);
  R(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a + 100));
  V(number);
  R(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a + 4 * kUnit + 100));
  V(base - a);
  R(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, a + 100));
  V(bytes);
  R(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 2 * kUnit));
  R(cuMemFree(a));
  R(cuMemFree(a + 2 * kUnit));
  // Two handles side by side, copied over in one go.
  R(cuMemCreate(&two, 2 * kUnit, &prop, 0));
  R(cuMemMap(a + 2 * kUnit, 2 * kUnit, 0, two, 0));
  R(cuMemSetAccess(a, 4 * kUnit, &both, 1));
  R(cuMemsetD8(a, 5, 4 * kUnit));
  R(cuMemcpyDtoH(&value, a + 4 * kUnit - 4, 4));
  V(value);
  R(cuMemUnmap(a, 0));
  R(cuMemUnmap(a, kUnit));
  R(cuMemUnmap(a + kUnit, 2 * kUnit));
  R(cuMemUnmap(plain, kUnit));
  R(cuMemRelease(h));
  R(cuMemcpyDtoH(&value, a, 4));
  V(value);
  R(cuMemAddressFree(a, 8 * kUnit));
  R(cuMemUnmap(a, 4 * kUnit));
  R(cuMemUnmap(a, 4 * kUnit));
  R(cuMemcpyDtoH(&value, a, 4));
  R(cuMemMap(a, 2 * kUnit, 0, two, 0));
  R(cuMemSetAccess(a, 2 * kUnit, &both, 1));
  R(cuMemcpyDtoH(&value, a + 2 * kUnit - 4, 4));
  V(value);
  R(cuMemUnmap(a, 2 * kUnit));
  R(cuMemRelease(two));
  R(cuMemUnmap(a + 4 * kUnit, 2 * kUnit));
  R(cuMemFree(plain));
}

/// A mapping of kUnit bytes with these rights of device 0, which is current.
CUdeviceptr mapping(int owner, CUmemAccess_flags flags) {
  CUdeviceptr a = 0;
  CUmemGenericAllocationHandle h = 0;
  const CUmemAllocationProp prop = on_device(owner);
  CUmemAccessDesc desc[] = {access(owner, CU_MEM_ACCESS_FLAGS_PROT_READWRITE), access(0, flags)};
  R(cuMemAddressReserve(&a, 2 * kUnit, 0, 0, 0));
  R(cuMemCreate(&h, kUnit, &prop, 0));
  R(cuMemMap(a, kUnit, 0, h, 0));
  if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE || owner != 0)
    R(cuMemSetAccess(a, kUnit, desc + (owner == 0), owner == 0 ? 1 : 2));
  R(cuMemRelease(h));
  return a;
}

void no_access() {
  start("no access", 0);
  const CUdeviceptr a = mapping(0, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  int value = 0;
  R(cuMemcpyDtoH(&value, a, 4));
  R(cuMemcpyHtoD(a, &value, 4));
  R(launch(load, a, 0));
}

void read_only() {
  start("read only", 0);
  const CUdeviceptr a = mapping(0, CU_MEM_ACCESS_FLAGS_PROT_READ);
  int value = 0;
  R(cuMemcpyDtoH(&value, a, 4));
  R(launch(load, a, 0));
  R(launch(store, a, 1));
}

void read_only_copy() {
  start("copy to read only", 0);
  const CUdeviceptr a = mapping(0, CU_MEM_ACCESS_FLAGS_PROT_READ);
  int value = 0;
  R(cuMemcpyHtoD(a, &value, 4));
  R(cuCtxSynchronize());
}

void reserved_only() {
  start("reserved only", 0);
  const CUdeviceptr a = mapping(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  R(launch(store, a + kUnit - 4, 1));
  R(launch(store, a + kUnit, 1));
}

void unmapped() {
  start("unmapped", 0);
  const CUdeviceptr a = mapping(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  R(launch(store, a, 1));
  R(cuMemUnmap(a, kUnit));
  R(launch(load, a, 1));
}

void access_taken() {
  start("access taken back", 0);
  const CUdeviceptr a = mapping(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  R(launch(store, a, 1));
  const CUmemAccessDesc none = access(0, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  R(cuMemSetAccess(a, kUnit, &none, 1));
  R(launch(load, a, 1));
}

void others_mapping() {
  start("mapping of device 1 by device 0", 0);
  const CUdeviceptr a = mapping(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  R(launch(store, a, 5));
  int value = 0;
  R(cuMemcpyDtoH(&value, a, 4));
  V(value);
  R(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a));
  V(value);
}

void others_mapping_denied() {
  start("mapping of device 1 without device 0", 0);
  const CUdeviceptr a = mapping(1, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  R(launch(store, a, 5));
}

}  // namespace

int main(int argc, char** argv) {
  const Group groups[] = {{granularity}, {reservations}, {handles},        {maps},
                          {no_access},   {read_only},    {read_only_copy}, {reserved_only},
                          {unmapped},    {access_taken}, {others_mapping}, {others_mapping_denied}};
  return run_groups(argc, argv, groups, sizeof groups / sizeof *groups);
}
