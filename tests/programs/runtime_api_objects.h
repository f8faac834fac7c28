// Part of runtime_api.cu: devices, textures and memory pools. Included there, after what it uses.
#pragma once

static void devices() {
  int value = -1, device = -1;
  char id[32] = {};
  R(cudaSetDevice(0));
  L(cudaSetDevice(100));
  L(cudaSetDevice(-1));
  R(cudaGetDevice(&device));
  V("device %d", device);
  cudaDeviceProp p;
  std::memset(&p, 0x5a, sizeof p);
  L(cudaGetDeviceProperties(&p, 100));
  L(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 100));
  L(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  R(cudaGetDeviceProperties(&p, 0));
  V("size of properties %zu", sizeof p);
  V("name %s", p.name);
  V("global %zu shared %zu registers %d warp %d pitch %zu threads %d", p.totalGlobalMem, p.sharedMemPerBlock,
    p.regsPerBlock, p.warpSize, p.memPitch, p.maxThreadsPerBlock);
  V("block %d %d %d grid %d %d %d", p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2], p.maxGridSize[0],
    p.maxGridSize[1], p.maxGridSize[2]);
  V("const %zu cc %d.%d texture alignment %zu %zu", p.totalConstMem, p.major, p.minor, p.textureAlignment,
    p.texturePitchAlignment);
  V("SMs %d integrated %d map host %d", p.multiProcessorCount, p.integrated, p.canMapHostMemory);
  V("surface alignment %zu concurrent %d ecc %d engines %d unified %d bus %d l2 %d persisting %d", p.surfaceAlignment,
    p.concurrentKernels, p.ECCEnabled, p.asyncEngineCount, p.unifiedAddressing, p.memoryBusWidth, p.l2CacheSize,
    p.persistingL2CacheMaxSize);
  V("threads per SM %d priorities %d l1 global %d local %d shared per SM %zu registers %d",
    p.maxThreadsPerMultiProcessor, p.streamPrioritiesSupported, p.globalL1CacheSupported, p.localL1CacheSupported,
    p.sharedMemPerMultiprocessor, p.regsPerMultiprocessor);
  V("managed %d multi %d atomics %d pageable %d concurrent managed %d preemption %d", p.managedMemory,
    p.isMultiGpuBoard, p.hostNativeAtomicSupported, p.pageableMemoryAccess, p.concurrentManagedAccess,
    p.computePreemptionSupported);
  V("registered pointer %d cooperative %d opt-in %zu host tables %d direct managed %d blocks per SM %d window %d "
    "reserved %zu",
    p.canUseHostPointerForRegisteredMem, p.cooperativeLaunch, p.sharedMemPerBlockOptin,
    p.pageableMemoryAccessUsesHostPageTables, p.directManagedMemAccessFromHost, p.maxBlocksPerMultiProcessor,
    p.accessPolicyMaxWindowSize, p.reservedSharedMemPerBlock);
  V("register host %d sparse %d read only %d timeline %d pools %d rdma %d %u %d handles %u deferred %d ipc %d cluster "
    "%d functions %d",
    p.hostRegisterSupported, p.sparseCudaArraySupported, p.hostRegisterReadOnlySupported,
    p.timelineSemaphoreInteropSupported, p.memoryPoolsSupported, p.gpuDirectRDMASupported,
    p.gpuDirectRDMAFlushWritesOptions, p.gpuDirectRDMAWritesOrdering, p.memoryPoolSupportedHandleTypes,
    p.deferredMappingCudaArraySupported, p.ipcEventSupported, p.clusterLaunch, p.unifiedFunctionPointers);
  const int* texture = &p.maxTexture1D;
  for (const int* at = texture; at < reinterpret_cast<const int*>(&p.surfaceAlignment); ++at)
    std::printf("%s%d", at == texture ? "devices | textures " : " ", *at);
  std::printf("\n");
  for (int attribute = 1; attribute <= 150; ++attribute) {
    value = -77;
    const int code = static_cast<int>(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), 0));
    cudaGetLastError();
    V("attribute %d -> %d %d", attribute, code, value);
  }
  size_t limit = 0;
  for (int which = 0; which <= 8; ++which) {
    limit = 77;
    const int code = static_cast<int>(cudaDeviceGetLimit(&limit, static_cast<cudaLimit>(which)));
    cudaGetLastError();
    V("limit %d -> %d %zu", which, code, limit);
  }
  L(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 21));
  R(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
  V("limit %zu", limit);
  L(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
  R(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  V("limit %zu", limit);
  L(cudaDeviceSetLimit(cudaLimitStackSize, 5000));
  R(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  V("limit %zu", limit);
  L(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1));
  cudaFuncCache cache;
  R(cudaDeviceGetCacheConfig(&cache));
  V("cache %d", static_cast<int>(cache));
  R(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  R(cudaDeviceGetCacheConfig(&cache));
  V("cache %d", static_cast<int>(cache));
  unsigned flags = 99;
  R(cudaGetDeviceFlags(&flags));
  V("flags %u", flags);
  L(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  R(cudaGetDeviceFlags(&flags));
  V("flags %u", flags);
  L(cudaSetDeviceFlags(0x4000));
  R(cudaDeviceCanAccessPeer(&value, 0, 0));
  V("peer %d", value);
  L(cudaDeviceCanAccessPeer(&value, 0, 100));
  L(cudaDeviceEnablePeerAccess(0, 0));
  L(cudaDeviceDisablePeerAccess(0));
  L(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  R(cudaDeviceGetPCIBusId(id, 32, 0));
  V("bus id length %zu", std::strlen(id));
  R(cudaDeviceGetByPCIBusId(&device, id));
  L(cudaDeviceGetByPCIBusId(&device, "0000:FF:1F.0"));
  L(cudaDeviceGetPCIBusId(id, 4, 0));
  cudaDeviceProp wish;
  std::memset(&wish, 0, sizeof wish);
  R(cudaChooseDevice(&device, &wish));
  V("chosen %d", device);
  R(cudaProfilerStart());
  R(cudaProfilerStop());
  V("unknown name %s string %s", cudaGetErrorName(static_cast<cudaError_t>(12345)),
    cudaGetErrorString(static_cast<cudaError_t>(12345)));
}

static void describe_array(cudaArray_t array) {
  cudaChannelFormatDesc desc;
  cudaExtent extent;
  unsigned flags = 99;
  const int code = static_cast<int>(cudaArrayGetInfo(&desc, &extent, &flags, array));
  V("array -> %d bits %d %d %d %d kind %d extent %zu %zu %zu flags %u", code, desc.x, desc.y, desc.z, desc.w,
    static_cast<int>(desc.f), extent.width, extent.height, extent.depth, flags);
}

static void textures() {
  cudaArray_t array = nullptr;
  static float host[64 * 64];
  const cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>();
  const cudaChannelFormatDesc u4 = cudaCreateChannelDesc<uchar4>();
  R(cudaMallocArray(&array, &f1, 64, 64));
  describe_array(array);
  L(cudaMemcpy2DToArray(array, 0, 0, host, 256, 256, 64, cudaMemcpyHostToDevice));
  L(cudaMemcpy2DToArray(array, 4, 0, host, 256, 256, 64, cudaMemcpyHostToDevice));
  L(cudaMemcpy2DToArray(array, 0, 1, host, 256, 256, 64, cudaMemcpyHostToDevice));
  L(cudaMemcpy2DFromArray(host, 256, array, 0, 0, 256, 64, cudaMemcpyDeviceToHost));
  L(cudaMemcpyToArray(array, 0, 0, host, sizeof host, cudaMemcpyHostToDevice));
  L(cudaMemcpyToArray(array, 0, 0, host, sizeof host + 4, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc desc = {};
  cudaTextureObject_t texture = 0;
  L(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  V("handle not zero %d", texture != 0);
  cudaTextureDesc back = {};
  cudaResourceDesc resource_back = {};
  L(cudaGetTextureObjectTextureDesc(&back, texture));
  L(cudaGetTextureObjectResourceDesc(&resource_back, texture));
  V("same array %d", resource_back.res.array.array == array);
  L(cudaDestroyTextureObject(texture));
  L(cudaDestroyTextureObject(0));
  L(cudaFreeArray(array));
  char* linear = nullptr;
  cudaMalloc(&linear, 1 << 20);
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = linear;
  resource.res.linear.desc = f1;
  resource.res.linear.sizeInBytes = 4096;
  L(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  resource.res.linear.devPtr = linear + 4;
  L(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  resource.res.linear.devPtr = nullptr;
  L(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = linear;
  resource.res.pitch2D.desc = u4;
  resource.res.pitch2D.width = 64;
  resource.res.pitch2D.height = 64;
  resource.res.pitch2D.pitchInBytes = 256;
  L(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  resource.res.pitch2D.pitchInBytes = 260;
  L(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  resource.res.pitch2D.pitchInBytes = 256;
  desc.filterMode = cudaFilterModeLinear;
  L(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  desc.readMode = cudaReadModeNormalizedFloat;
  L(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  L(cudaMallocArray(&array, &f1, 0, 0));
  L(cudaMallocArray(&array, &f1, 1 << 20, 1 << 20));
  const cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
  L(cudaMallocArray(&array, &three, 16, 16));
  L(cudaMalloc3DArray(&array, &u4, make_cudaExtent(8, 8, 8), 0));
  describe_array(array);
  L(cudaMalloc3DArray(&array, &f1, make_cudaExtent(8, 0, 4), cudaArrayLayered));
  describe_array(array);
  cudaPitchedPtr pitched = {};
  L(cudaMalloc3D(&pitched, make_cudaExtent(100, 10, 5)));
  V("pitched %zu %zu %zu", pitched.pitch, pitched.xsize, pitched.ysize);
}

static void pools() {
  void* p = nullptr;
  int device = 0;
  cudaMemPool_t pool = nullptr;
  R(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 77;
  R(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  V("threshold %llu", threshold);
  threshold = ~0ull;
  R(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  R(cudaMallocAsync(&p, 1000, nullptr));
  V("aligned %d", reinterpret_cast<uintptr_t>(p) % 512 == 0);
  R(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &threshold));
  V("used %llu", threshold);
  R(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &threshold));
  V("reserved %llu", threshold);
  describe("async", p);
  R(cudaFreeAsync(p, nullptr));
  R(cudaMallocAsync(&p, 0, nullptr));
  V("malloc async 0 gives null %d", p == nullptr);
  R(cudaFreeAsync(nullptr, nullptr));
  L(cudaFreeAsync(&device, nullptr));
  R(cudaMallocAsync(&p, 1000, nullptr));
  L(cudaFree(p));
  R(cudaMalloc(&p, 1000));
  L(cudaFreeAsync(p, nullptr));
  R(cudaDeviceSynchronize());
  R(cudaMemPoolTrimTo(pool, 0));
  char* managed = nullptr;
  R(cudaMallocManaged(&managed, 1 << 20));
#if CUDART_VERSION >= 13000
  cudaMemLocation here = {};
  here.type = cudaMemLocationTypeDevice;
  here.id = 0;
  L(cudaMemPrefetchAsync(managed, 1 << 20, here, 0, nullptr));
  L(cudaMemPrefetchAsync(managed, (1 << 20) + 1, here, 0, nullptr));
  L(cudaMemPrefetchAsync(&device, 4, here, 0, nullptr));
  L(cudaMemAdvise(managed, 1 << 20, cudaMemAdviseSetReadMostly, here));
  here.id = 100;
  L(cudaMemPrefetchAsync(managed, 1 << 20, here, 0, nullptr));
#endif
  size_t free_bytes = 0, total = 0;
  R(cudaMemGetInfo(&free_bytes, &total));
  V("free below total %d", free_bytes <= total && free_bytes > 0);
}
