/* Cotan: programs with loops, branches and arrays, and their derivatives, compiled at run time.
 *
 * Every function but the last few gives a status. What went wrong is also written to `error`, unless that is NULL;
 * its text is given back with cotan_error_free. Handles are values: copies of one stand for the same thing, any thread may use
 * them at the same time, and one that was freed, or is zero, is an error and nothing worse.
 */
#ifndef COTAN_H
#define COTAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COTAN_VERSION "0.1.0"

/* What became of a call. */
typedef enum cotan_status {
  COTAN_OK = 0,
  /* A pointer is NULL that must not be. */
  COTAN_NULL = 1,
  /* A handle is zero, was freed, or is of something else. */
  COTAN_HANDLE = 2,
  /* A text is not UTF-8, a number is out of its range, a structure has no such value. */
  COTAN_VALUE = 3,
  /* A file can't be read. */
  COTAN_FILE = 4,
  /* The program has errors. */
  COTAN_PROGRAM = 5,
  /* There is no such function or derivative, or it can't be compiled. */
  COTAN_REQUEST = 6,
  /* Arguments, or the room for results, do not fit the function. */
  COTAN_ARGUMENT = 7,
  /* A check of the program failed: an index, an `assert`. */
  COTAN_CHECK = 8,
  /* There is too little memory, or the call may not use so much. */
  COTAN_MEMORY = 9,
  /* Another limit was reached. */
  COTAN_LIMIT = 10,
  /* A device or a backend is missing, or failed. */
  COTAN_DEVICE = 11,
  /* A bug of Cotan. */
  COTAN_INTERNAL = 12
} cotan_status;

/* Element types. A bool is a byte, 0 or 1; the floats of sixteen bits are their bits. */
typedef enum cotan_element {
  COTAN_BOOL = 0,
  COTAN_I8 = 1,
  COTAN_I16 = 2,
  COTAN_I32 = 3,
  COTAN_I64 = 4,
  COTAN_U8 = 5,
  COTAN_U16 = 6,
  COTAN_U32 = 7,
  COTAN_U64 = 8,
  COTAN_F16 = 9,
  COTAN_BF16 = 10,
  COTAN_F32 = 11,
  COTAN_F64 = 12
} cotan_element;

/* What runs programs. */
typedef enum cotan_backend { COTAN_CPU = 0, COTAN_INTERPRETER = 1, COTAN_VULKAN = 2 } cotan_backend;

/* Derivatives. */
typedef enum cotan_form {
  /* The gradient in `wrt`, of a function whose result is a float. */
  COTAN_GRAD = 1,
  /* The same behind the value. */
  COTAN_VALUE_AND_GRAD = 2,
  /* The value and its tangent; tangents of `wrt` stand behind the arguments. */
  COTAN_JVP = 3,
  /* The value and the products with the cotangent, which stands behind the arguments. */
  COTAN_VJP = 4,
  COTAN_JACOBIAN = 5,
  COTAN_HESSIAN = 6,
  /* The product of the Hessian with tangents of `wrt`. */
  COTAN_HVP = 7
} cotan_form;

/* How a derivative is computed. */
typedef enum cotan_mode { COTAN_CHEAPER = 0, COTAN_FORWARD = 1, COTAN_REVERSE = 2 } cotan_mode;

typedef struct cotan_compiler {
  void *slot;
  uint64_t generation;
} cotan_compiler;

typedef struct cotan_program {
  void *slot;
  uint64_t generation;
} cotan_program;

typedef struct cotan_function {
  void *slot;
  uint64_t generation;
} cotan_function;

/* What went wrong: the code of the diagnostic, such as R0001, if there is one, and a text for people. */
typedef struct cotan_error {
  int32_t status;
  char code[12];
  char *text;
} cotan_error;

/* Zero in all its parts is the default. */
typedef struct cotan_config {
  /* A cotan_backend. */
  int32_t backend;
  /* Threads of calls and of the compiler; 0 for all cores. */
  uint32_t threads;
  /* Bytes that a call may use; 0 for no bound but the machine's. */
  uint64_t memory;
  /* Iterations, about, that a call may take; 0 for any number. */
  uint64_t steps;
  /* Milliseconds that a call may take; 0 for any number. */
  uint64_t milliseconds;
  /* Whether a call stops where a NaN is made. */
  int32_t trap_nan;
  int32_t reserved;
} cotan_config;

/* A derivative of what stands before it. */
typedef struct cotan_derivative {
  /* A cotan_form. */
  int32_t form;
  /* A cotan_mode. */
  int32_t mode;
  /* The parameters to differentiate with respect to; none stands for the first that has a derivative. Those of a derivative are
   * the arguments, and behind them tangents (of `x` `dx`, a second one `ddx`) or the cotangent (`cotangent`, `cotangent2`). */
  const char *const *wrt;
  size_t n_wrt;
} cotan_derivative;

/* A function, and the derivatives of it, one of the other: the function itself without any. */
typedef struct cotan_request {
  const char *function;
  const cotan_derivative *derivatives;
  size_t n_derivatives;
} cotan_request;

/* An array of the caller. A scalar has rank 0. */
typedef struct cotan_tensor {
  void *data;
  /* A cotan_element. */
  int32_t element;
  int32_t rank;
  /* The extents, outermost first. */
  const int64_t *extents;
  /* How many elements apart neighbours are along each axis; NULL for row-major. */
  const int64_t *strides;
} cotan_tensor;

/* An operand or result of a function: a scalar, an array, or such a part of a struct. */
typedef struct cotan_leaf {
  /* The name of its parameter, as long as the function is there; NULL for results. */
  const char *name;
  int32_t element;
  int32_t rank;
} cotan_leaf;

/* The version of the library. */
const char *cotan_version(void);

/* A compiler; `config` may be NULL. Its programs and functions live on when it is freed. */
cotan_status cotan_compiler_new(const cotan_config *config, cotan_compiler *out, cotan_error *error);
cotan_status cotan_compiler_free(cotan_compiler compiler);

/* Checks a file with all that it imports. Of a program with errors the text has them as the command line shows them. */
cotan_status cotan_program_load(cotan_compiler compiler, const char *path, cotan_program *out, cotan_error *error);
/* The same of a text, which imports nothing but the library. `name` stands for it in messages. */
cotan_status cotan_program_parse(cotan_compiler compiler, const char *name, const char *text, cotan_program *out,
                                 cotan_error *error);
cotan_status cotan_program_free(cotan_program program);

/* Compiles a function, or a derivative of one. */
cotan_status cotan_function_new(cotan_program program, const cotan_request *request, cotan_function *out,
                                cotan_error *error);
cotan_status cotan_function_free(cotan_function function);

/* How many operands a call takes: the leaves of the parameters in order, then the sizes that follow from no argument, which are
 * scalars of type i64; and how many results it gives. */
cotan_status cotan_function_counts(cotan_function function, size_t *n_args, size_t *n_results, cotan_error *error);
cotan_status cotan_function_argument(cotan_function function, size_t k, cotan_leaf *out, cotan_error *error);
cotan_status cotan_function_result(cotan_function function, size_t k, cotan_leaf *out, cotan_error *error);

/* The extents of result `k` for these arguments; -1 for each that only the run knows, or that follows from the values of
 * arguments. `extents` has room for as many as the rank. */
cotan_status cotan_result_extents(cotan_function function, const cotan_tensor *args, size_t n_args, size_t k,
                                  int64_t *extents, cotan_error *error);

/* Calls a function. `data` of an argument without elements may be NULL. Results are written to `data` of `results`, whose element, rank and extents must be right; one whose
 * `data` is NULL comes in memory of its own, with its extents, which cotan_tensor_free gives back. A result may not overlap an
 * argument or another result. What the program prints is dropped. */
cotan_status cotan_call(cotan_function function, const cotan_tensor *args, size_t n_args, cotan_tensor *results,
                        size_t n_results, cotan_error *error);

/* Bytes that the last cotan_call of this thread copied, as operands of it were not row-major. */
uint64_t cotan_copied_bytes(void);

/* Gives back a result that came in memory of its own, and the text of an error; both are zero then. */
void cotan_tensor_free(cotan_tensor *result);
void cotan_error_free(cotan_error *error);

#ifdef __cplusplus
}
#endif

#endif
