// Eight items side by side, by the vector types of GCC.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstring>

typedef double Lanes __attribute__((vector_size(64)));
static const size_t LANES = 8;

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

// Eight rows of eight elements as eight columns: pairs, then pairs of pairs, then halves.
inline void turn(Lanes x[LANES]) {
    typedef long long Places __attribute__((vector_size(64)));
    const Places low1 = {0, 8, 2, 10, 4, 12, 6, 14}, high1 = {1, 9, 3, 11, 5, 13, 7, 15};
    const Places low2 = {0, 1, 8, 9, 4, 5, 12, 13}, high2 = {2, 3, 10, 11, 6, 7, 14, 15};
    const Places low4 = {0, 1, 2, 3, 8, 9, 10, 11}, high4 = {4, 5, 6, 7, 12, 13, 14, 15};
    const auto step = [&](size_t apart, Places low, Places high) {
        for (size_t l = 0; l < LANES; l++) {
            if (l & apart) continue;
            const Lanes a = x[l], b = x[l + apart];
            x[l] = __builtin_shuffle(a, b, low);
            x[l + apart] = __builtin_shuffle(a, b, high);
        }
    };
    step(1, low1, high1), step(2, low2, high2), step(4, low4, high4);
}
