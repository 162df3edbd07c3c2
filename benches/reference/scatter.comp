// The gradient of scatter.cot: no device of these adds floats atomically, so each thread has a copy of the
// bins, side by side; then a thread for each bin adds up the copies.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Doubles { double at[]; };
layout(buffer_reference, std430) buffer Longs { int64_t at[]; };
layout(buffer_reference, std430) buffer Arguments {
  Doubles x;
  Longs bins;
  Doubles w;
  Doubles copies;
  Doubles h;
  uint64_t n;
  uint64_t n_bins;
  uint64_t n_copies;
};
layout(push_constant) uniform Pushed { Arguments arguments; };

void main() {
  Doubles copies = arguments.copies;
  const uint thread = gl_GlobalInvocationID.x, threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  const uint n_bins = uint(arguments.n_bins), n_copies = uint(arguments.n_copies);
#if PASS == 0
  Longs bins = arguments.bins;
  Doubles w = arguments.w;
  const uint n = uint(arguments.n);
  for (uint bin = 0; bin < n_bins; ++bin) {
    copies.at[bin * n_copies + thread] = 0.0lf;
  }
  for (uint i = thread; i < n; i += threads) {
    copies.at[uint(bins.at[i]) * n_copies + thread] += w.at[i];
  }
#else
  Doubles h = arguments.h;
  for (uint bin = thread; bin < n_bins; bin += threads) {
    double sum = 0.0lf;
    for (uint k = 0; k < n_copies; ++k) {
      sum += copies.at[bin * n_copies + k];
    }
    h.at[bin] = sum;
  }
#endif
}
