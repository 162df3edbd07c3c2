// The gradient of stencil.cot: the residuals, then what each number has of those around it.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Doubles { double at[]; };
layout(buffer_reference, std430) buffer Arguments {
  Doubles u;
  Doubles residuals;
  Doubles gradient;
  uint64_t rows;
  uint64_t columns;
};
layout(push_constant) uniform Pushed { Arguments arguments; };

void main() {
  Doubles u = arguments.u, residuals = arguments.residuals, gradient = arguments.gradient;
  const uint rows = uint(arguments.rows), columns = uint(arguments.columns);
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint at = gl_GlobalInvocationID.x; at < rows * columns; at += threads) {
    const uint i = at / columns, j = at - i * columns;
    const bool is_inside = i > 0 && i < rows - 1 && j > 0 && j < columns - 1;
#if PASS == 0
    // Residuals have zeros around them, so that the gradient asks for no edge.
    double r = 0.0lf;
    if (is_inside) {
      const double c = u.at[at];
      r = u.at[at - columns] + u.at[at + columns] + u.at[at - 1] + u.at[at + 1] - 4.0lf * c - 0.1lf * c * c * c;
    }
    residuals.at[at] = r;
#else
    double sum = 0.0lf;
    if (is_inside) {
      const double c = u.at[at];
      sum = -(4.0lf + 0.3lf * c * c) * residuals.at[at];
    }
    sum += i > 0 ? residuals.at[at - columns] : 0.0lf;
    sum += i < rows - 1 ? residuals.at[at + columns] : 0.0lf;
    sum += j > 0 ? residuals.at[at - 1] : 0.0lf;
    sum += j < columns - 1 ? residuals.at[at + 1] : 0.0lf;
    gradient.at[at] = sum;
#endif
  }
}
