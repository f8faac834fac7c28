// Warp functions.
// PTX: shfl.sync.idx.b32
// PTX: shfl.sync.up.b32
// PTX: shfl.sync.down.b32
// PTX: shfl.sync.bfly.b32
// PTX: vote.sync.ballot.b32
// PTX: match.any.sync.b32
// PTX: match.all.sync.b64
// PTX: redux.sync.add.s32
// PTX: redux.sync.max.u32
// PTX: activemask.b32
// PTX: bar.warp.sync
// PTX: nanosleep.u32
__global__ void warps(int* i, float* f, double* d, unsigned long long* q) {
  const unsigned all = 0xffffffff;
  i[0] = __shfl_sync(all, i[1], 3) + __shfl_up_sync(all, i[1], 1) + __shfl_down_sync(all, i[1], 2, 16) +
         __shfl_xor_sync(all, i[1], 4);
  f[0] = __shfl_sync(all, f[1], 3) + __shfl_xor_sync(all, f[2], 1, 8);
  d[0] = __shfl_down_sync(all, d[1], 1);
  q[0] = __shfl_up_sync(all, q[1], 1) + __shfl_sync(all, (long)q[2], 1);
  i[1] = __any_sync(all, i[2]) + __all_sync(all, i[3]) + __ballot_sync(all, i[4]) + __activemask() +
         __syncthreads_count(i[5]) + __syncthreads_or(i[6]) + __syncthreads_and(i[7]);
  int same;
  i[2] = __match_any_sync(all, i[3]) + __match_all_sync(all, q[3], &same) + same;
  i[3] = __reduce_add_sync(all, i[4]) + __reduce_max_sync(all, (unsigned)i[5]) + __reduce_xor_sync(all, i[6]);
  i[4] = __fns(i[4], 0, 2);
  __syncwarp();
  __nanosleep(100);
  q[4] = clock64() + clock() + __globaltimer();
}
