// __nv_atomic_*: CUDA's atomics with a stated memory order and scope.
#ifndef MUSCOPE_DEVICE_NV_ATOMICS_H
#define MUSCOPE_DEVICE_NV_ATOMICS_H

#include "../../host_defines.h"

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD __MEMORY_SCOPE_SINGLE
#define __NV_THREAD_SCOPE_BLOCK __MEMORY_SCOPE_WRKGRP
#define __NV_THREAD_SCOPE_CLUSTER __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_DEVICE __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_SYSTEM __MEMORY_SCOPE_SYSTEM

// The order and scope have to be constants where the primitive is called, so each combination in use gets its own call.
#define MUSCOPE_FOR_SCOPE(scope, call)                                             \
  do {                                                                             \
    if (scope == __MEMORY_SCOPE_WRKGRP) call(__MEMORY_SCOPE_WRKGRP);               \
    else if (scope == __MEMORY_SCOPE_DEVICE) call(__MEMORY_SCOPE_DEVICE);          \
    else call(__MEMORY_SCOPE_SYSTEM);                                              \
  } while (0)

template <class T>
MUSCOPE_DEVICE T __nv_atomic_load_n(T* p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define MUSCOPE_CALL(s) return __scoped_atomic_load_n(p, order, s)
  MUSCOPE_FOR_SCOPE(scope, MUSCOPE_CALL);
#undef MUSCOPE_CALL
}
template <class T>
MUSCOPE_DEVICE void __nv_atomic_load(T* p, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define MUSCOPE_CALL(s) __scoped_atomic_load(p, result, order, s)
  MUSCOPE_FOR_SCOPE(scope, MUSCOPE_CALL);
#undef MUSCOPE_CALL
}
template <class T>
MUSCOPE_DEVICE void __nv_atomic_store_n(T* p, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define MUSCOPE_CALL(s) __scoped_atomic_store_n(p, value, order, s)
  MUSCOPE_FOR_SCOPE(scope, MUSCOPE_CALL);
#undef MUSCOPE_CALL
}
template <class T>
MUSCOPE_DEVICE void __nv_atomic_store(T* p, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define MUSCOPE_CALL(s) __scoped_atomic_store(p, value, order, s)
  MUSCOPE_FOR_SCOPE(scope, MUSCOPE_CALL);
#undef MUSCOPE_CALL
}
template <class T>
MUSCOPE_DEVICE T __nv_atomic_exchange_n(T* p, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
#define MUSCOPE_CALL(s) return __scoped_atomic_exchange_n(p, value, order, s)
  MUSCOPE_FOR_SCOPE(scope, MUSCOPE_CALL);
#undef MUSCOPE_CALL
}
template <class T>
MUSCOPE_DEVICE bool __nv_atomic_compare_exchange_n(T* p, T* expected, T desired, bool weak, int success, int failure,
                                                   int scope = __NV_THREAD_SCOPE_SYSTEM) {
  (void)weak;
#define MUSCOPE_CALL(s) return __scoped_atomic_compare_exchange_n(p, expected, desired, false, success, failure, s)
  MUSCOPE_FOR_SCOPE(scope, MUSCOPE_CALL);
#undef MUSCOPE_CALL
}
#define MUSCOPE_NV_FETCH(name)                                                                              \
  template <class T>                                                                                        \
  MUSCOPE_DEVICE T __nv_atomic_fetch_##name(T* p, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    MUSCOPE_FOR_SCOPE(scope, MUSCOPE_CALL);                                                                 \
  }                                                                                                         \
  template <class T>                                                                                        \
  MUSCOPE_DEVICE void __nv_atomic_##name(T* p, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {  \
    (void)__nv_atomic_fetch_##name(p, value, order, scope);                                                 \
  }
#define MUSCOPE_CALL(s) return __scoped_atomic_fetch_add(p, value, order, s)
MUSCOPE_NV_FETCH(add)
#undef MUSCOPE_CALL
#define MUSCOPE_CALL(s) return __scoped_atomic_fetch_sub(p, value, order, s)
MUSCOPE_NV_FETCH(sub)
#undef MUSCOPE_CALL
#define MUSCOPE_CALL(s) return __scoped_atomic_fetch_min(p, value, order, s)
MUSCOPE_NV_FETCH(min)
#undef MUSCOPE_CALL
#define MUSCOPE_CALL(s) return __scoped_atomic_fetch_max(p, value, order, s)
MUSCOPE_NV_FETCH(max)
#undef MUSCOPE_CALL
#define MUSCOPE_CALL(s) return __scoped_atomic_fetch_and(p, value, order, s)
MUSCOPE_NV_FETCH(and)
#undef MUSCOPE_CALL
#define MUSCOPE_CALL(s) return __scoped_atomic_fetch_or(p, value, order, s)
MUSCOPE_NV_FETCH(or)
#undef MUSCOPE_CALL
#define MUSCOPE_CALL(s) return __scoped_atomic_fetch_xor(p, value, order, s)
MUSCOPE_NV_FETCH(xor)
#undef MUSCOPE_CALL
#undef MUSCOPE_NV_FETCH
#undef MUSCOPE_FOR_SCOPE

#endif
