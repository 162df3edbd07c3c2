// The gradient of recurrence.cot: a thread for each start, its stack in private memory.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Doubles { double at[]; };
layout(buffer_reference, std430) buffer Arguments {
  Doubles x;
  Doubles y;
  Doubles a;
  Doubles b;
  Doubles of_x;
  Doubles of_y;
  Doubles of_a;
  Doubles of_b;
  uint64_t n;
};
layout(push_constant) uniform Pushed { Arguments arguments; };

const int STEPS = 64;
const double LENGTH = 0.02lf;

void main() {
  Doubles x_at = arguments.x, y_at = arguments.y, a_at = arguments.a, b_at = arguments.b;
  Doubles of_x = arguments.of_x, of_y = arguments.of_y, of_a = arguments.of_a, of_b = arguments.of_b;
  const uint n = uint(arguments.n), threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < n; i += threads) {
    double xs[STEPS], ys[STEPS];
    double x = x_at.at[i], y = y_at.at[i];
    const double a = a_at.at[i], b = b_at.at[i];
    for (int k = 0; k < STEPS; ++k) {
      xs[k] = x;
      ys[k] = y;
      const double caught = x * y / (1.0lf + x);
      x += LENGTH * (a * x - caught);
      y += LENGTH * (caught - b * y);
    }
    double bar_x = 1.0lf, bar_y = 1.0lf, bar_a = 0.0lf, bar_b = 0.0lf;
    for (int k = STEPS - 1; k >= 0; --k) {
      x = xs[k];
      y = ys[k];
      // Of x y / (1 + x): in x it has y / (1 + x)^2, in y x / (1 + x).
      const double inverse = 1.0lf / (1.0lf + x), of_caught = (bar_y - bar_x) * inverse;
      bar_a += bar_x * x;
      bar_b -= bar_y * y;
      bar_x += LENGTH * (bar_x * a + of_caught * y * inverse);
      bar_y += LENGTH * (of_caught * x - bar_y * b);
    }
    of_x.at[i] = bar_x;
    of_y.at[i] = bar_y;
    of_a.at[i] = LENGTH * bar_a;
    of_b.at[i] = LENGTH * bar_b;
  }
}
