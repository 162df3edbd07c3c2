// Items side by side, as many as a register holds, by the vector types of GCC.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstring>

#ifdef __AVX512F__
static const size_t LANES = 8;
#else
static const size_t LANES = 4;
#endif
typedef double Lanes __attribute__((vector_size(8 * LANES)));

inline Lanes all(double x) { return Lanes{} + x; }
// A function of each lane, in a loop that compilers turn into one vector instruction or call.
template <class F> inline Lanes each(Lanes x, F f) {
    double y[LANES];
    std::memcpy(y, &x, sizeof y);
    for (size_t l = 0; l < LANES; l++) y[l] = f(y[l]);
    std::memcpy(&x, y, sizeof y);
    return x;
}
inline Lanes root(Lanes x) {
    return each(x, [](double x) { return std::sqrt(x); });
}
inline Lanes exponential(Lanes x) {
    return each(x, [](double x) { return std::exp(x); });
}
inline void sine_cosine(Lanes x, Lanes& s, Lanes& c) {
    s = each(x, [](double x) { return std::sin(x); });
    c = each(x, [](double x) { return std::cos(x); });
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
// Elements with a stride; those from `live` on are those of the last item.
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

// A step of a transposition: rows that lie `APART` from each other exchange the elements that do.
template <size_t APART> inline void exchange(Lanes x[LANES]) {
    typedef long long Places __attribute__((vector_size(8 * LANES)));
    Places low, high;
    for (size_t l = 0; l < LANES; l++) {
        low[l] = l & APART ? LANES + l - APART : l;
        high[l] = l & APART ? LANES + l : l + APART;
    }
    for (size_t l = 0; l < LANES; l++) {
        if (l & APART) continue;
        const Lanes a = x[l], b = x[l + APART];
        x[l] = __builtin_shuffle(a, b, low);
        x[l + APART] = __builtin_shuffle(a, b, high);
    }
}

// As many rows as lanes, as columns: pairs, then pairs of pairs, and so on.
inline void turn(Lanes x[LANES]) {
    exchange<1>(x);
    exchange<2>(x);
    if constexpr (LANES > 4) exchange<LANES / 2>(x);
}
