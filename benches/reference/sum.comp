// A sum: of each thread, of each workgroup in shared memory, and of what workgroups leave.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Doubles { double at[]; };
layout(buffer_reference, std430) buffer Arguments { Doubles x; Doubles partials; Doubles sum; uint64_t n; uint64_t groups; };
layout(push_constant) uniform Pushed { Arguments arguments; };

shared double shares[gl_WorkGroupSize.x];

void main() {
#if PASS == 0
  Doubles x = arguments.x, to = arguments.partials;
  const uint n = uint(arguments.n);
#else
  Doubles x = arguments.partials, to = arguments.sum;
  const uint n = uint(arguments.groups);
#endif
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, mine = gl_LocalInvocationID.x;
  double sum = 0.0lf;
  for (uint i = gl_GlobalInvocationID.x; i < n; i += threads) {
    sum += x.at[i];
  }
  shares[mine] = sum;
  for (uint half_size = gl_WorkGroupSize.x / 2; half_size > 0; half_size /= 2) {
    barrier();
    if (mine < half_size) {
      shares[mine] += shares[mine + half_size];
    }
  }
  if (mine == 0) {
    to.at[gl_WorkGroupID.x] = shares[0];
  }
}
