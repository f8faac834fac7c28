// Closes what begin.h opened: back to CUDA's default, or to what -fmad=false asks for. Included without a guard.
#if defined(__clang__) && !defined(MUSCOPE_NO_FMAD)
#pragma clang fp contract(fast)
#endif
