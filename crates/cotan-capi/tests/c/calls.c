/* Calls as a program makes them: a gradient, arrays that are not row-major, results of unknown length, errors of a run. */
#include "cotan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "%s\n", what);
    exit(1);
  }
}

static void ok(cotan_status status, cotan_error *error) {
  if (status != COTAN_OK) {
    fprintf(stderr, "%d %s: %s\n", (int)status, error->code, error->text);
    exit(1);
  }
}

static const char *const TEXT =
    "import std.index\n"
    "fn loss[N, D](w: f64[D], x: f64[N, D], y: f64[N]) -> f64 =\n"
    "  +/ tabulate(N, |i| { let r = +/ tabulate(D, |j| x[i, j] * w[j]) - y[i]\n    r * r })\n"
    "fn above(x: f64[4], bound: f64) -> f64[_] = index.compress(x, x .> bound)\n"
    "fn at(x: f32[3], k: i64) -> f32 = x[k]\n"
    "fn rows[N, M](x: f64[N, M], is: bool[N]) -> f64[_, M] = index.compress(x, is)\n"
    "fn total[N](x: f64[N]) -> f64 = +/ x\n"
    "fn transposed[N, M](x: f64[N, M]) -> f64[M, N] = tabulate([M, N], |i, j| x[j, i])\n";

static cotan_tensor tensor(void *data, int32_t element, int32_t rank, const int64_t *extents) {
  cotan_tensor made;
  memset(&made, 0, sizeof made);
  made.data = data;
  made.element = element;
  made.rank = rank;
  made.extents = extents;
  return made;
}

/* The function, or a chain of derivatives of it. */
static cotan_function function(cotan_program program, const char *name, const cotan_derivative *chain, size_t n) {
  cotan_error error;
  cotan_request request;
  cotan_function made;
  memset(&request, 0, sizeof request);
  request.function = name;
  request.derivatives = chain;
  request.n_derivatives = n;
  ok(cotan_function_new(program, &request, &made, &error), &error);
  return made;
}

int main(void) {
  cotan_error error;
  cotan_compiler compiler;
  cotan_program program;
  expect(strcmp(cotan_version(), COTAN_VERSION) == 0, "the header is of another version");
  memset(&error, 0, sizeof error);
  ok(cotan_compiler_new(NULL, &compiler, &error), &error);
  ok(cotan_program_parse(compiler, "calls.cot", TEXT, &program, &error), &error);

  /* A gradient, and what it takes and gives. */
  const char *const of_w[] = {"w"};
  cotan_derivative chain[] = {{COTAN_VALUE_AND_GRAD, COTAN_CHEAPER, NULL, 0}, {COTAN_JVP, COTAN_CHEAPER, of_w, 1}};
  cotan_function gradient = function(program, "loss", chain, 1);
  size_t n_args = 0, n_results = 0;
  ok(cotan_function_counts(gradient, &n_args, &n_results, &error), &error);
  expect(n_args == 3 && n_results == 2, "three arguments, two results");
  cotan_leaf leaf;
  ok(cotan_function_argument(gradient, 1, &leaf, &error), &error);
  expect(strcmp(leaf.name, "x") == 0 && leaf.element == COTAN_F64 && leaf.rank == 2, "the second is `x`");
  const int64_t two[] = {2}, three[] = {3}, matrix[] = {3, 2};
  double w[] = {1.0, -1.0}, x[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, y[] = {0.0, 0.0, 1.0}, value = 0.0, slope[2];
  cotan_tensor args[] = {tensor(w, COTAN_F64, 1, two), tensor(x, COTAN_F64, 2, matrix), tensor(y, COTAN_F64, 1, three)};
  cotan_tensor results[] = {tensor(&value, COTAN_F64, 0, NULL), tensor(slope, COTAN_F64, 1, two)};
  ok(cotan_call(gradient, args, 3, results, 2, &error), &error);
  expect(value == 6.0 && slope[0] == -28.0 && slope[1] == -36.0, "the gradient");
  expect(cotan_copied_bytes() == 0, "nothing is copied");

  /* Forward over reverse: the product of the Hessian with a tangent. */
  chain[0].form = COTAN_GRAD;
  cotan_function product = function(program, "loss", chain, 2);
  double tangent[] = {1.0, 0.0}, second[2];
  cotan_tensor four_args[] = {args[0], args[1], args[2], tensor(tangent, COTAN_F64, 1, two)};
  cotan_tensor two_results[] = {tensor(slope, COTAN_F64, 1, two), tensor(second, COTAN_F64, 1, two)};
  ok(cotan_call(product, four_args, 4, two_results, 2, &error), &error);
  expect(slope[0] == -28.0 && second[0] == 70.0 && second[1] == 88.0, "a column of the Hessian");
  expect(cotan_function_free(product) == COTAN_OK, "it is freed");

  /* The same matrix, column by column. */
  double columns[] = {1.0, 3.0, 5.0, 2.0, 4.0, 6.0};
  const int64_t by_column[] = {1, 3};
  args[1].data = columns;
  args[1].strides = by_column;
  slope[0] = slope[1] = 0.0;
  ok(cotan_call(gradient, args, 3, results, 2, &error), &error);
  expect(slope[0] == -28.0 && slope[1] == -36.0, "the gradient of columns");
  expect(cotan_copied_bytes() == sizeof columns, "columns are copied");

  /* A result that goes to every second element. */
  cotan_function transposed = function(program, "transposed", NULL, 0);
  double room[12];
  for (int k = 0; k < 12; ++k) room[k] = -1.0;
  const int64_t wide[] = {2, 3}, apart[] = {6, 2};
  cotan_tensor source = tensor(x, COTAN_F64, 2, matrix), target = tensor(room, COTAN_F64, 2, wide);
  int64_t extents[2] = {0, 0};
  ok(cotan_result_extents(transposed, &source, 1, 0, extents, &error), &error);
  expect(extents[0] == 2 && extents[1] == 3, "the extents of the result");
  source.strides = by_column;
  ok(cotan_result_extents(transposed, &source, 1, 0, extents, &error), &error);
  expect(cotan_copied_bytes() == sizeof columns, "the last call is the same");
  source.strides = NULL;
  target.strides = apart;
  ok(cotan_call(transposed, &source, 1, &target, 1, &error), &error);
  expect(room[0] == 1.0 && room[1] == -1.0 && room[2] == 3.0 && room[10] == 6.0 && room[11] == -1.0, "places");

  /* A result whose length only the run knows. */
  cotan_function above = function(program, "above", NULL, 0);
  const int64_t four[] = {4};
  double numbers[] = {3.0, 1.0, 2.0, 4.0}, bound = 1.5;
  cotan_tensor both[] = {tensor(numbers, COTAN_F64, 1, four), tensor(&bound, COTAN_F64, 0, NULL)}, found;
  memset(&found, 0, sizeof found);
  ok(cotan_result_extents(above, both, 2, 0, extents, &error), &error);
  expect(extents[0] == -1, "the run decides");
  ok(cotan_call(above, both, 2, &found, 1, &error), &error);
  expect(found.rank == 1 && found.extents[0] == 3 && ((double *)found.data)[1] == 2.0, "three are above");
  cotan_tensor_free(&found);
  expect(found.data == NULL, "it is given back");
  bound = 9.0;
  ok(cotan_call(above, both, 2, &found, 1, &error), &error);
  expect(found.extents[0] == 0, "none is above");
  cotan_tensor_free(&found);

  /* The run decides one extent of two. */
  cotan_function rows = function(program, "rows", NULL, 0);
  uint8_t kept[] = {1, 0, 1};
  cotan_tensor of_rows[] = {tensor(x, COTAN_F64, 2, matrix), tensor(kept, COTAN_BOOL, 1, three)};
  ok(cotan_result_extents(rows, of_rows, 2, 0, extents, &error), &error);
  expect(extents[0] == -1 && extents[1] == 2, "the second extent is known");
  ok(cotan_call(rows, of_rows, 2, &found, 1, &error), &error);
  expect(found.extents[0] == 2 && found.extents[1] == 2 && ((double *)found.data)[2] == 5.0, "two rows are kept");
  cotan_tensor_free(&found);

  /* An array without elements needs no memory. */
  cotan_function total = function(program, "total", NULL, 0);
  const int64_t none[] = {0};
  double sum = 1.0;
  cotan_tensor empty = tensor(NULL, COTAN_F64, 1, none), to_sum = tensor(&sum, COTAN_F64, 0, NULL);
  ok(cotan_call(total, &empty, 1, &to_sum, 1, &error), &error);
  expect(sum == 0.0, "the sum of nothing");

  /* An error of a run has a code and a place, and the next call is right. */
  cotan_function at = function(program, "at", NULL, 0);
  float singles[] = {0.5F, 1.5F, 2.5F}, single = 0.0F;
  int64_t k = 7;
  cotan_tensor operands[] = {tensor(singles, COTAN_F32, 1, three), tensor(&k, COTAN_I64, 0, NULL)};
  cotan_tensor one = tensor(&single, COTAN_F32, 0, NULL);
  expect(cotan_call(at, operands, 2, &one, 1, &error) == COTAN_CHECK, "there is no element 7");
  expect(error.status == COTAN_CHECK && strcmp(error.code, "R0001") == 0, "the code");
  expect(strstr(error.text, "calls.cot:6:") != NULL, error.text);
  cotan_error_free(&error);
  expect(error.text == NULL && cotan_call(at, operands, 2, &one, 1, NULL) == COTAN_CHECK, "errors need no room");
  k = 2;
  ok(cotan_call(at, operands, 2, &one, 1, &error), &error);
  expect(single == 2.5F, "the third element");

  /* Functions live on without their compiler and program. */
  expect(cotan_compiler_free(compiler) == COTAN_OK && cotan_program_free(program) == COTAN_OK, "they are freed");
  ok(cotan_call(at, operands, 2, &one, 1, &error), &error);
  expect(cotan_function_free(at) == COTAN_OK && cotan_function_free(above) == COTAN_OK, "they are freed");
  expect(cotan_function_free(rows) == COTAN_OK && cotan_function_free(total) == COTAN_OK, "they are freed");
  expect(cotan_function_free(gradient) == COTAN_OK && cotan_function_free(transposed) == COTAN_OK, "they are freed");
  puts("all calls are right");
  return 0;
}
