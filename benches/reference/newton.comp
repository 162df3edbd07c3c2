// The gradient of newton.cot: a thread for each polynomial, its record in private memory.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Doubles { double at[]; };
layout(buffer_reference, std430) buffer Arguments {
  Doubles p;
  Doubles q;
  Doubles r;
  Doubles of_p;
  Doubles of_q;
  Doubles of_r;
  uint64_t n;
};
layout(push_constant) uniform Pushed { Arguments arguments; };

const int MOST_TRIPS = 50;

void main() {
  Doubles p_at = arguments.p, q_at = arguments.q, r_at = arguments.r;
  Doubles of_p = arguments.of_p, of_q = arguments.of_q, of_r = arguments.of_r;
  const uint n = uint(arguments.n), threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < n; i += threads) {
    const double p = p_at.at[i], q = q_at.at[i], r = r_at.at[i];
    double record[MOST_TRIPS];
    double x = 1.0lf, delta = 1.0lf;
    int trips = 0;
    while (abs(delta) >= 1e-12lf && trips < MOST_TRIPS) {
      record[trips++] = x;
      delta = (((x + p) * x + q) * x - r) / ((3.0lf * x + 2.0lf * p) * x + q);
      x -= delta;
    }
    double bar = 1.0lf, bar_p = 0.0lf, bar_q = 0.0lf, bar_r = 0.0lf;
    while (trips > 0) {
      x = record[--trips];
      // Of a step f / s: of f it takes bar / s, of s it gives bar f / s^2.
      const double inverse = 1.0lf / ((3.0lf * x + 2.0lf * p) * x + q);
      const double delta = (((x + p) * x + q) * x - r) * inverse;
      const double of_value = bar * inverse, of_slope = of_value * delta;
      bar_p += (2.0lf * of_slope - of_value * x) * x;
      bar_q += of_slope - of_value * x;
      bar_r += of_value;
      bar = of_slope * (6.0lf * x + 2.0lf * p);
    }
    of_p.at[i] = bar_p;
    of_q.at[i] = bar_q;
    of_r.at[i] = bar_r;
  }
}
