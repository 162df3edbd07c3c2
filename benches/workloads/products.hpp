// Matrix products for the workloads in C++, with tiles in registers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#ifdef __AVX512F__
static const size_t WORD = 8, ROWS = 8;
#else
static const size_t WORD = 4, ROWS = 4;
#endif
static const size_t COLUMNS = 2 * WORD;
typedef double Word __attribute__((vector_size(8 * WORD)));

inline Word load(const double* p) {
    Word x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
inline void store(double* p, Word x) { std::memcpy(p, &x, sizeof x); }

// A tile of c += a b, where a has any strides, a[i * row + k * column], and b is a panel of COLUMNS columns, of which the
// first `live` are there.
template <size_t M>
inline void tile(size_t depth, const double* a, size_t row, size_t column, const double* panel, double* c, size_t ldc, size_t live) {
    Word sum[M][2] = {};
    for (size_t k = 0; k < depth; k++) {
        const Word left = load(panel + k * COLUMNS), right = load(panel + k * COLUMNS + WORD);
        for (size_t i = 0; i < M; i++) {
            const double x = a[i * row + k * column];
            sum[i][0] += x * left;
            sum[i][1] += x * right;
        }
    }
    for (size_t i = 0; i < M; i++) {
        double done[COLUMNS];
        store(done, sum[i][0]), store(done + WORD, sum[i][1]);
        for (size_t j = 0; j < live; j++) c[i * ldc + j] += done[j];
    }
}

// c += a b for c of m x n and b of depth x n, both row by row. A transposed a has row = 1.
inline void multiply_add(size_t m, size_t n, size_t depth, const double* a, size_t row, size_t column, const double* b, double* c) {
    static thread_local std::vector<double> panel;
    panel.assign(depth * COLUMNS, 0.0);
    for (size_t j = 0; j < n; j += COLUMNS) {
        const size_t live = std::min(COLUMNS, n - j);
        for (size_t k = 0; k < depth; k++) std::memcpy(&panel[k * COLUMNS], b + k * n + j, 8 * live);
        size_t i = 0;
        for (; i + ROWS <= m; i += ROWS) tile<ROWS>(depth, a + i * row, row, column, panel.data(), c + i * n + j, n, live);
        for (; i < m; i++) tile<1>(depth, a + i * row, row, column, panel.data(), c + i * n + j, n, live);
    }
}

// y += x b for a vector x and b of depth x n, row by row: eight words of y stay in registers.
inline void add_row_product(size_t n, size_t depth, const double* x, const double* b, double* y) {
    size_t j = 0;
    for (; j + 8 * WORD <= n; j += 8 * WORD) {
        Word sum[8] = {};
        for (size_t k = 0; k < depth; k++)
            for (size_t i = 0; i < 8; i++) sum[i] += x[k] * load(b + k * n + j + i * WORD);
        for (size_t i = 0; i < 8; i++) store(y + j + i * WORD, load(y + j + i * WORD) + sum[i]);
    }
    for (; j + WORD <= n; j += WORD) {
        Word even = {}, odd = {};
        size_t k = 0;
        for (; k + 2 <= depth; k += 2) even += x[k] * load(b + k * n + j), odd += x[k + 1] * load(b + (k + 1) * n + j);
        if (k < depth) even += x[k] * load(b + k * n + j);
        store(y + j, load(y + j) + even + odd);
    }
    for (; j < n; j++)
        for (size_t k = 0; k < depth; k++) y[j] += x[k] * b[k * n + j];
}

// b of n x m is the transpose of a of m x n.
inline void transpose(size_t m, size_t n, const double* __restrict a, double* __restrict b) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) b[j * m + i] = a[i * n + j];
}

inline double dot(size_t n, const double* __restrict a, const double* __restrict b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

inline void axpy(size_t n, double s, const double* __restrict x, double* __restrict y) {
    for (size_t i = 0; i < n; i++) y[i] += s * x[i];
}
