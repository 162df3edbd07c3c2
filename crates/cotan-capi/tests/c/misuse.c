/* What a C program can get wrong: each has a status and a text, and nothing breaks. */
#include "cotan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_tried = 0;

/* Prints the status and the first line of the text. */
static void tried(const char *what, cotan_status status, cotan_status expected, cotan_error *error) {
  ++n_tried;
  if (status != expected || (status != COTAN_OK && (error->text == NULL || error->status != (int32_t)status))) {
    fprintf(stderr, "%s: expected %d, found %d\n", what, (int)expected, (int)status);
    exit(1);
  }
  /* How many threads are too many depends on the machine. */
  if (error->text != NULL && strcmp(what, "too many threads") != 0) {
    error->text[strcspn(error->text, "\n")] = 0;
    printf("%s: %d %s\n", what, (int)status, error->text);
  }
  cotan_error_free(error);
}

static cotan_tensor tensor(void *data, int32_t element, int32_t rank, const int64_t *extents) {
  cotan_tensor made;
  memset(&made, 0, sizeof made);
  made.data = data;
  made.element = element;
  made.rank = rank;
  made.extents = extents;
  return made;
}

int main(void) {
  cotan_error error;
  cotan_compiler compiler, no_compiler;
  cotan_program program, other;
  cotan_function f, g;
  cotan_config config;
  cotan_request request;
  cotan_derivative derivative;
  cotan_leaf leaf;
  size_t n = 0, m = 0;
  memset(&error, 0, sizeof error);
  memset(&config, 0, sizeof config);
  memset(&request, 0, sizeof request);
  memset(&derivative, 0, sizeof derivative);
  memset(&no_compiler, 0, sizeof no_compiler);
  const char *text = "fn f[N](x: f64[N], y: f64[N]) -> f64[N] = x .+ y\nfn g[N](x: f64) -> f64[N] = tabulate(N, |i| x)\n";

  tried("no room for a compiler", cotan_compiler_new(NULL, NULL, &error), COTAN_NULL, &error);
  config.backend = 9;
  tried("no such backend", cotan_compiler_new(&config, &compiler, &error), COTAN_VALUE, &error);
  config.backend = 0;
  config.threads = 4000000000U;
  tried("too many threads", cotan_compiler_new(&config, &compiler, &error), COTAN_VALUE, &error);
  tried("a compiler", cotan_compiler_new(NULL, &compiler, &error), COTAN_OK, &error);
  tried("a zero handle", cotan_program_parse(no_compiler, "a.cot", text, &program, &error), COTAN_HANDLE, &error);
  tried("no text", cotan_program_parse(compiler, "a.cot", NULL, &program, &error), COTAN_NULL, &error);
  tried("no name", cotan_program_parse(compiler, NULL, text, &program, &error), COTAN_NULL, &error);
  tried("no UTF-8", cotan_program_parse(compiler, "a.cot", "fn f\xff", &program, &error), COTAN_VALUE, &error);
  tried("no program", cotan_program_parse(compiler, "a.cot", "fn f(", &program, &error), COTAN_PROGRAM, &error);
  tried("no file", cotan_program_load(compiler, "/nowhere/a.cot", &program, &error), COTAN_FILE, &error);
  tried("a program", cotan_program_parse(compiler, "a.cot", text, &program, &error), COTAN_OK, &error);

  tried("no request", cotan_function_new(program, NULL, &f, &error), COTAN_NULL, &error);
  tried("no function in it", cotan_function_new(program, &request, &f, &error), COTAN_NULL, &error);
  request.function = "h";
  tried("no such function", cotan_function_new(program, &request, &f, &error), COTAN_REQUEST, &error);
  request.function = "f";
  request.n_derivatives = 1;
  tried("no derivatives", cotan_function_new(program, &request, &f, &error), COTAN_NULL, &error);
  request.derivatives = &derivative;
  derivative.form = 99;
  tried("no such form", cotan_function_new(program, &request, &f, &error), COTAN_VALUE, &error);
  derivative.form = COTAN_GRAD;
  derivative.mode = 3;
  tried("no such mode", cotan_function_new(program, &request, &f, &error), COTAN_VALUE, &error);
  derivative.mode = COTAN_CHEAPER;
  tried("no number to differentiate", cotan_function_new(program, &request, &f, &error), COTAN_REQUEST, &error);
  derivative.n_wrt = 2;
  tried("no names", cotan_function_new(program, &request, &f, &error), COTAN_NULL, &error);
  request.n_derivatives = 0;
  tried("a function", cotan_function_new(program, &request, &f, &error), COTAN_OK, &error);
  request.function = "g";
  tried("another one", cotan_function_new(program, &request, &g, &error), COTAN_OK, &error);
  memcpy(&other, &f, sizeof other);
  tried("a handle of a function for that of a program", cotan_program_free(other) == COTAN_HANDLE ? COTAN_OK : COTAN_INTERNAL,
        COTAN_OK, &error);
  tried("no such argument", cotan_function_argument(f, 2, &leaf, &error), COTAN_VALUE, &error);
  tried("no room for a number", cotan_function_counts(f, &n, NULL, &error), COTAN_NULL, &error);
  tried("counts", cotan_function_counts(g, &n, &m, &error), COTAN_OK, &error);

  double x[] = {1.0, 2.0, 3.0}, y[] = {4.0, 5.0, 6.0}, z[] = {0.0, 0.0, 0.0};
  float single[] = {1.0F, 2.0F, 3.0F};
  const int64_t three[] = {3}, two[] = {2}, negative[] = {-3}, huge[] = {INT64_MAX}, square[] = {3, 1};
  const int64_t far[] = {INT64_MAX / 4};
  cotan_tensor args[] = {tensor(x, COTAN_F64, 1, three), tensor(y, COTAN_F64, 1, three)};
  cotan_tensor result = tensor(z, COTAN_F64, 1, three);
#define TRY(what, expected) tried(what, cotan_call(f, args, 2, &result, 1, &error), expected, &error)
  TRY("a call", COTAN_OK);
  tried("too few arguments", cotan_call(f, args, 1, &result, 1, &error), COTAN_ARGUMENT, &error);
  tried("no arguments", cotan_call(f, NULL, 2, &result, 1, &error), COTAN_NULL, &error);
  tried("no results", cotan_call(f, args, 2, NULL, 1, &error), COTAN_NULL, &error);
  args[1].data = NULL;
  TRY("no data", COTAN_NULL);
  args[1] = tensor(single, COTAN_F32, 1, three);
  TRY("another element", COTAN_ARGUMENT);
  args[1] = tensor(y, 77, 1, three);
  TRY("no element type", COTAN_VALUE);
  args[1] = tensor(y, COTAN_F64, -1, three);
  TRY("a negative rank", COTAN_VALUE);
  args[1] = tensor(y, COTAN_F64, 2, square);
  TRY("another rank", COTAN_ARGUMENT);
  args[1] = tensor(y, COTAN_F64, 1, two);
  TRY("another extent", COTAN_ARGUMENT);
  args[1] = tensor(y, COTAN_F64, 1, NULL);
  TRY("no extents", COTAN_NULL);
  args[1] = tensor(y, COTAN_F64, 1, negative);
  TRY("a negative extent", COTAN_ARGUMENT);
  args[1] = tensor(y, COTAN_F64, 1, huge);
  TRY("more elements than memory", COTAN_ARGUMENT);
  args[1] = tensor((char *)y + 1, COTAN_F64, 1, two);
  TRY("data that is not aligned", COTAN_ARGUMENT);
  args[1] = tensor(y, COTAN_F64, 1, three);
  args[1].strides = far;
  TRY("strides out of all memory", COTAN_ARGUMENT);
  args[1].strides = NULL;
  result = tensor(z, COTAN_F64, 1, two);
  TRY("a short result", COTAN_ARGUMENT);
  result = tensor(single, COTAN_F32, 1, three);
  TRY("a result of another type", COTAN_ARGUMENT);
  result = tensor(y, COTAN_F64, 1, three);
  TRY("a result over an argument", COTAN_ARGUMENT);
  result = tensor(z, COTAN_F64, 1, three);
  TRY("a call after all these", COTAN_OK);

  double number = 2.0, size = NAN;
  int64_t count = -1;
  cotan_tensor sized[] = {tensor(&number, COTAN_F64, 0, NULL), tensor(&size, COTAN_F64, 0, NULL)};
  tried("a size that is no integer", cotan_call(g, sized, 2, &result, 1, &error), COTAN_ARGUMENT, &error);
  sized[1] = tensor(&count, COTAN_I64, 0, NULL);
  tried("a negative size", cotan_call(g, sized, 2, &result, 1, &error), COTAN_ARGUMENT, &error);
  count = 3;
  tried("a size", cotan_call(g, sized, 2, &result, 1, &error), COTAN_OK, &error);

  if (cotan_function_free(f) != COTAN_OK || cotan_function_free(f) != COTAN_HANDLE) return 1;
  tried("a dead function", cotan_call(f, args, 2, &result, 1, &error), COTAN_HANDLE, &error);
  request.function = "f";
  tried("a function in its place", cotan_function_new(program, &request, &g, &error), COTAN_OK, &error);
  tried("the dead one still", cotan_call(f, args, 2, &result, 1, &error), COTAN_HANDLE, &error);
  cotan_error_free(NULL);
  cotan_tensor_free(NULL);
  printf("%d tried\n", n_tried);
  return z[0] == 2.0 ? 0 : 1;
}
