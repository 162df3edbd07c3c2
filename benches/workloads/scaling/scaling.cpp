// Coordinates one after the other, so that a row of distances is a vector loop. A distance of zero has no derivative.
#include "../serve.hpp"

struct Scaling {
    static const size_t K = 2;
    const Arguments& in;
    size_t n;
    Vec x, y, xb, yb;

    explicit Scaling(const Arguments& in) : in(in), n(in.dim("x", 0)), x(n), y(n), xb(n), yb(n) {
        if (in.dim("x", 1) != K) fail("this is written for two dimensions");
    }
    size_t entries() const { return K * n; }

    template <bool GRADIENT> double run(double* out) {
        const double *place = in.f64("x"), *distance = in.f64("distance");
        for (size_t i = 0; i < n; i++) x[i] = place[2 * i], y[i] = place[2 * i + 1], xb[i] = yb[i] = 0;
        const double *__restrict p = x.data(), *__restrict q = y.data();
        double *__restrict pb = xb.data(), *__restrict qb = yb.data();
        double total = 0;
        for (size_t i = 0; i < n; i++) {
            const double* __restrict d = distance + i * n;
            double a = 0, b = 0;
            for (size_t j = 0; j < n; j++) {
                const double dx = p[i] - p[j], dy = q[i] - q[j], r = std::sqrt(dx * dx + dy * dy), e = r - d[j];
                total += e * e;
                if (!GRADIENT) continue;
                // Where the distance is zero, so are both differences.
                const double w = 2 * e / std::max(r, 1e-300);
                a += w * dx, b += w * dy;
                pb[j] -= w * dx, qb[j] -= w * dy;
            }
            if (GRADIENT) pb[i] += a, qb[i] += b;
        }
        if (GRADIENT)
            for (size_t i = 0; i < n; i++) out[2 * i] = xb[i], out[2 * i + 1] = yb[i];
        return total;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Scaling>(n, words); }
