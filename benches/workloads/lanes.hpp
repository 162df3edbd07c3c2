// Eight items side by side, by the vector types of GCC and Clang.
#pragma once
#include <cmath>
#include <cstddef>

typedef double Lanes __attribute__((vector_size(64)));
static const size_t LANES = 8;

inline Lanes all(double x) { return Lanes{} + x; }
inline Lanes root(Lanes x) {
    Lanes y;
    for (size_t l = 0; l < LANES; l++) y[l] = std::sqrt(x[l]);
    return y;
}
inline Lanes exponential(Lanes x) {
    double y[LANES];
    for (size_t l = 0; l < LANES; l++) y[l] = x[l];
    for (size_t l = 0; l < LANES; l++) y[l] = std::exp(y[l]);
    Lanes z;
    for (size_t l = 0; l < LANES; l++) z[l] = y[l];
    return z;
}
inline void sine_cosine(Lanes x, Lanes& s, Lanes& c) {
    double in[LANES], a[LANES], b[LANES];
    for (size_t l = 0; l < LANES; l++) in[l] = x[l];
    for (size_t l = 0; l < LANES; l++) a[l] = std::sin(in[l]);
    for (size_t l = 0; l < LANES; l++) b[l] = std::cos(in[l]);
    for (size_t l = 0; l < LANES; l++) s[l] = a[l], c[l] = b[l];
}
inline Lanes magnitude(Lanes x) { return x < 0 ? -x : x; }
inline double largest(Lanes x) {
    double m = x[0];
    for (size_t l = 1; l < LANES; l++) m = x[l] > m ? x[l] : m;
    return m;
}
inline double sum(Lanes x) {
    double s = 0;
    for (size_t l = 0; l < LANES; l++) s += x[l];
    return s;
}
// Eight elements with a stride; those from `live` on are those of the last item.
inline Lanes gather(const double* p, size_t stride, size_t live) {
    Lanes x;
    for (size_t l = 0; l < LANES; l++) x[l] = p[(l < live ? l : live - 1) * stride];
    return x;
}
// 1 for items below `live`, 0 for the others.
inline Lanes first(size_t live) {
    Lanes x;
    for (size_t l = 0; l < LANES; l++) x[l] = l < live;
    return x;
}
