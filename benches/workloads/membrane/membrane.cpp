// Waves by rows of inner points. Every step's grid is kept where the gradient needs it; three buffers rotate in reverse.
#include "../serve.hpp"

struct Membrane {
    const Arguments& in;
    size_t n, m, size, steps;
    Vec u, now, before, scaled;

    // The grid of step s is at s + 1, behind that of rest before the first one.
    explicit Membrane(const Arguments& in)
        : in(in), n(in.dim("start", 0)), m(in.dim("start", 1)), size(n * m), steps(in.size("steps")), u((steps + 2) * size),
          now(size), before(size), scaled(size) {}
    size_t entries() const { return 2 * size; }

    template <bool KEEP> const double* run() {
        const double* __restrict c = in.f64("speed");
        std::memcpy(&u[0], in.f64("start"), 8 * size);
        std::memcpy(&u[size], in.f64("start"), 8 * size);
        for (size_t s = 0; s < steps; s++) {
            const double* __restrict old = &u[(KEEP ? s : s % 3) * size];
            const double* __restrict p = &u[(KEEP ? s + 1 : (s + 1) % 3) * size];
            double* __restrict q = &u[(KEEP ? s + 2 : (s + 2) % 3) * size];
            std::fill(q, q + m, 0.0);
            std::fill(q + size - m, q + size, 0.0);
            for (size_t i = 1; i + 1 < n; i++) {
                q[i * m] = q[i * m + m - 1] = 0;
                for (size_t k = i * m + 1; k < i * m + m - 1; k++)
                    q[k] = 2 * p[k] - old[k] + c[k] * (p[k - m] + p[k + m] + p[k - 1] + p[k + 1] - 4 * p[k]);
            }
        }
        return &u[(KEEP ? steps + 1 : (steps + 1) % 3) * size];
    }
    double error(const double* p) const {
        const double* target = in.f64("target");
        double sum = 0;
        for (size_t k = 0; k < size; k++) sum += (p[k] - target[k]) * (p[k] - target[k]);
        return sum;
    }
    double value() { return error(run<false>()); }

    double gradient(double* out) {
        const double* last = run<true>();
        const double found = error(last);
        const double *__restrict c = in.f64("speed"), *target = in.f64("target");
        double* __restrict cb = out + size;
        std::fill(cb, cb + size, 0.0);
        // The adjoints of the grids of a step and of the one before it.
        for (size_t k = 0; k < size; k++) now[k] = 2 * (last[k] - target[k]), before[k] = 0;
        for (size_t s = steps; s-- > 0;) {
            const double* __restrict p = &u[(s + 1) * size];
            double *__restrict g = now.data(), *__restrict b = before.data(), *__restrict h = scaled.data();
            for (size_t j = 0; j < m; j++) g[j] = g[size - m + j] = 0;
            for (size_t i = 0; i < n; i++) g[i * m] = g[i * m + m - 1] = 0;
            for (size_t i = 1; i + 1 < n; i++)
                for (size_t k = i * m + 1; k < i * m + m - 1; k++)
                    cb[k] += g[k] * (p[k - m] + p[k + m] + p[k - 1] + p[k + 1] - 4 * p[k]);
            // Beyond the border there is nothing to gather, and on it nothing to give.
            for (size_t k = 0; k < size; k++) h[k] = c[k] * g[k], b[k] += 2 * g[k] - 4 * h[k];
            for (size_t k = 0; k + m < size; k++) b[k] += h[k + m], b[k + m] += h[k];
            for (size_t k = 0; k + 1 < size; k++) b[k] += h[k + 1];
            for (size_t k = 1; k < size; k++) b[k] += h[k - 1];
            for (size_t k = 0; k < size; k++) g[k] = -g[k];
            std::swap(now, before);
        }
        for (size_t k = 0; k < size; k++) out[k] = now[k] + before[k];
        return found;
    }
};

int main(int n, char** words) { return serve<Membrane>(n, words); }
