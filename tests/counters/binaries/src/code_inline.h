// Two functions that are inlined into each other and into whoever includes them.
#pragma once

__device__ inline float inner(float x) {
  return x * x + 1.5f;  // inner's sum
}

__device__ inline float outer(float x) {
  float y = inner(x);        // outer calls inner first
  return y * 0.25f - inner(y);  // outer calls inner again
}
