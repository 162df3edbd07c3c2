/* Fits a mixture of three Gaussians to the irises, by gradient descent with momentum. The loss is in ../gmm/gmm.cot, and Cotan
 * writes and compiles its gradient.
 */
#include "iris.h"
#include <cotan.h>
#include <stdio.h>
#include <stdlib.h>

#define BELOW (D * (D - 1) / 2)

/* The leaves of `Mixture`, in the order of its fields. */
typedef struct {
  double alphas[K], means[K][D], q[K][D], l[K][BELOW];
} mixture;

#define N_NUMBERS (sizeof(mixture) / sizeof(double))

static void check(cotan_status status, cotan_error *error) {
  if (status != COTAN_OK) {
    fprintf(stderr, "%s\n", error->text);
    exit(1);
  }
}

static cotan_tensor array(void *data, int rank, const int64_t *extents) {
  cotan_tensor tensor = {data, COTAN_F64, rank, extents, NULL};
  return tensor;
}

/* The four arrays of a mixture. */
static void leaves(mixture *w, cotan_tensor *out) {
  static const int64_t alphas[] = {K}, rows[] = {K, D}, below[] = {K, BELOW};
  out[0] = array(w->alphas, 1, alphas);
  out[1] = array(w->means, 2, rows);
  out[2] = array(w->q, 2, rows);
  out[3] = array(w->l, 2, below);
}

int main(int n, char **words) {
  cotan_error error;
  cotan_compiler compiler;
  cotan_program program;
  cotan_function gradient;
  check(cotan_compiler_new(NULL, &compiler, &error), &error);
  check(cotan_program_load(compiler, n > 1 ? words[1] : "../gmm/gmm.cot", &program, &error), &error);
  const char *wrt[] = {"w"};
  cotan_derivative derivative = {COTAN_VALUE_AND_GRAD, COTAN_CHEAPER, wrt, 1};
  cotan_request request = {"loss", &derivative, 1};
  check(cotan_function_new(program, &request, &gradient, &error), &error);

  static mixture w, slope, speed;
  for (int k = 0; k < K * D; ++k) (&w.means[0][0])[k] = (&first_means[0][0])[k];
  double gamma = 0.1, loss = 0.0;
  int64_t m = 0;
  static const int64_t points[] = {N, D};
  cotan_tensor args[7], results[5];
  leaves(&w, args);
  args[4] = array((void *)irises, 2, points);
  args[5] = array(&gamma, 0, NULL);
  args[6] = array(&m, 0, NULL);
  args[6].element = COTAN_I64;
  results[0] = array(&loss, 0, NULL);
  leaves(&slope, results + 1);

  for (int step = 0; step < 400; ++step) {
    check(cotan_call(gradient, args, 7, results, 5, &error), &error);
    double *at = w.alphas, *v = speed.alphas, *g = slope.alphas;
    for (size_t k = 0; k < N_NUMBERS; ++k) {
      v[k] = 0.9 * v[k] - 0.05 * g[k];
      at[k] += v[k];
    }
    if (step % 100 == 99) printf("step %d: loss %.4f\n", step + 1, loss);
  }
  cotan_function_free(gradient);
  cotan_program_free(program);
  cotan_compiler_free(compiler);
  return 0;
}
