kernel void arith(global float* o, int n) {
  int i = get_global_id(0);
  float a = i, b = 1.5f;
  int c = i, d = 7;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    a = a * b + 0.5f; b = b * 0.99f + 0.01f; c = c * d + k; d = d ^ c; a = a + b; c += i; b = fmin(b, a); d = d + 3;
  }
  o[i] = a + b + c + d;
}
