// A cascade of second-order filters. The adjoint of a filter is one recurrence from the end; the derivatives in its
// coefficients are dot products of that with the signal, which are vector loops.
#include "../serve.hpp"

struct Filters {
    const Arguments& in;
    size_t n, k;
    Vec x, adjoint;

    explicit Filters(const Arguments& in) : in(in), n(in.dim("signal", 0)), k(in.dim("b", 0)), x((k + 1) * n), adjoint(n + 2) {}
    size_t entries() const { return 5 * k; }

    double value() {
        const double *b = in.f64("b"), *a = in.f64("a"), *target = in.f64("target");
        std::memcpy(x.data(), in.f64("signal"), 8 * n);
        for (size_t s = 0; s < k; s++) {
            const double b0 = b[3 * s], b1 = b[3 * s + 1], b2 = b[3 * s + 2], a1 = a[2 * s], a2 = a[2 * s + 1];
            const double* __restrict p = &x[s * n];
            double* __restrict y = &x[(s + 1) * n];
            double u = 0, v = 0;
            for (size_t i = 0; i < n; i++) {
                const double out = b0 * p[i] + u;
                u = b1 * p[i] + v - a1 * out;
                v = b2 * p[i] - a2 * out;
                y[i] = out;
            }
        }
        const double* y = &x[k * n];
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += (y[i] - target[i]) * (y[i] - target[i]);
        return sum / n;
    }

    double gradient(double* out) {
        const double found = value();
        const double *b = in.f64("b"), *a = in.f64("a"), *target = in.f64("target");
        double* __restrict w = adjoint.data();
        w[n] = w[n + 1] = 0;
        for (size_t i = 0; i < n; i++) w[i] = 2.0 / n * (x[k * n + i] - target[i]);
        for (size_t s = k; s-- > 0;) {
            const double b0 = b[3 * s], b1 = b[3 * s + 1], b2 = b[3 * s + 2], a1 = a[2 * s], a2 = a[2 * s + 1];
            double next = 0, after = 0;
            for (size_t i = n; i-- > 0;) {
                const double now = w[i] - a1 * next - a2 * after;
                w[i] = now;
                after = next;
                next = now;
            }
            const double *p = &x[s * n], *y = &x[(s + 1) * n];
            double d0 = 0, d1 = 0, d2 = 0, e1 = 0, e2 = 0;
            for (size_t i = 0; i < n; i++) {
                d0 += w[i] * p[i], d1 += w[i + 1] * p[i], d2 += w[i + 2] * p[i];
                e1 -= w[i + 1] * y[i], e2 -= w[i + 2] * y[i];
            }
            out[3 * s] = d0, out[3 * s + 1] = d1, out[3 * s + 2] = d2;
            out[3 * k + 2 * s] = e1, out[3 * k + 2 * s + 1] = e2;
            for (size_t i = 0; i < n; i++) w[i] = b0 * w[i] + b1 * w[i + 1] + b2 * w[i + 2];
        }
        return found;
    }
};

int main(int n, char** words) { return serve<Filters>(n, words); }
