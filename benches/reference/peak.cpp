// What one core can do at most: fused multiply-adds on registers, and bytes from and to memory.
#include <chrono>
#include <cstdio>
#include <vector>

#if defined(__AVX512F__)
enum { WIDTH = 8 };
#elif defined(__AVX__)
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
typedef double Lanes __attribute__((vector_size(8 * WIDTH)));

static volatile double sink;

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Independent chains, so many that the units never wait for a result; more would not fit the registers of every machine.
static double flops_per_second() {
    const int chains = 12;
    const long steps = 400000;
    volatile double start = 0.5;
    Lanes a = start + Lanes{}, b = 2 * start + Lanes{}, x[chains];
    for (int k = 0; k < chains; k++) x[k] = k + Lanes{};
    double begun = now();
    for (long i = 0; i < steps; i++)
        for (int k = 0; k < chains; k++) x[k] = x[k] * a + b;
    double seconds = now() - begun;
    Lanes sum = {};
    for (int k = 0; k < chains; k++) sum += x[k];
    for (int lane = 0; lane < WIDTH; lane++) sink = sum[lane];
    return 2.0 * WIDTH * chains * steps / seconds;
}

// Two arrays read and one written, none of which a cache holds.
static double bytes_per_second(std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c) {
    const double* __restrict from = b.data();
    const double* __restrict other = c.data();
    double* __restrict to = a.data();
    double begun = now();
    for (size_t i = 0; i < a.size(); i++) to[i] = from[i] + 0.5 * other[i];
    double seconds = now() - begun;
    sink = a[a.size() / 2];
    return 3.0 * sizeof(double) * a.size() / seconds;
}

int main() {
    const size_t n = 16 << 20;
    std::vector<double> a(n, 1.0), b(n, 2.0), c(n, 3.0);
    double flops = 0, bytes = 0;
    // The best of many short tries: other work on the machine disturbs most of them.
    for (int k = 0; k < 60; k++) {
        double f = flops_per_second();
        flops = f > flops ? f : flops;
        if (k % 3 == 0) {
            double m = bytes_per_second(a, b, c);
            bytes = m > bytes ? m : bytes;
        }
    }
    std::printf("{\"flops\":%.6g,\"bytes\":%.6g}\n", flops, bytes);
}
