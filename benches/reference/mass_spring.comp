// The time step of mass_spring.cot: a thread for each mass, which computes the forces at both of its sides.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Doubles { double at[]; };
layout(buffer_reference, std430) buffer Arguments {
  Doubles x;
  Doubles v;
  Doubles k;
  Doubles x_after;
  Doubles v_after;
  uint64_t n;
  double dt;
  double c;
  double beta;
};
layout(push_constant) uniform Pushed { Arguments arguments; };

double force(double k, double beta, double e) {
  return k * (e + beta * e * e * e);
}

void main() {
  Doubles x = arguments.x, v = arguments.v, k = arguments.k;
  Doubles x_after = arguments.x_after, v_after = arguments.v_after;
  const uint n = uint(arguments.n), threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  const double dt = arguments.dt, c = arguments.c, beta = arguments.beta;
  for (uint i = gl_GlobalInvocationID.x; i < n; i += threads) {
    const double here = x.at[i], speed = v.at[i];
    double sum = -c * speed;
    if (i < n - 1) {
      sum += force(k.at[i], beta, x.at[i + 1] - here - 1.0lf);
    }
    if (i > 0) {
      sum -= force(k.at[i - 1], beta, here - x.at[i - 1] - 1.0lf);
    }
    const double after = speed + dt * sum;
    v_after.at[i] = after;
    x_after.at[i] = here + dt * after;
  }
}
