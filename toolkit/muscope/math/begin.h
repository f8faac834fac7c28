// Opens a file of mathematics: no fusing across statements; error-free transformations depend on it. Closed by end.h.
// Included without a guard.
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
