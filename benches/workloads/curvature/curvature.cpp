// The Hessian is x' s x with s = p (1 - p): one matrix product. With x = z L' for its Cholesky factor L, the gradient is
// the sum over samples of s (1 - 2 p) |z|^2 x / 2.
#include "../products.hpp"
#include "../serve.hpp"

struct Curvature {
    const Arguments& in;
    size_t n, d;
    Vec p, scaled, h, inverse, z;

    explicit Curvature(const Arguments& in)
        : in(in), n(in.dim("x", 0)), d(in.dim("x", 1)), p(n), scaled(n * d), h(d * d), inverse(d * d), z(n * d) {}
    size_t entries() const { return d; }

    double value() {
        const double *x = in.f64("x"), *w = in.f64("w"), ridge = in.number("ridge");
        for (size_t i = 0; i < n; i++) p[i] = dot(d, x + i * d, w);
        for (size_t i = 0; i < n; i++) p[i] = 1 / (1 + std::exp(-p[i]));
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < d; k++) scaled[i * d + k] = p[i] * (1 - p[i]) * x[i * d + k];
        std::fill(h.begin(), h.end(), 0.0);
        for (size_t k = 0; k < d; k++) h[k * d + k] = ridge;
        multiply_add(d, d, n, scaled.data(), 1, d, x, h.data());
        double sum = 0;
        for (size_t j = 0; j < d; j++) {
            for (size_t k = 0; k < j; k++)
                for (size_t i = j; i < d; i++) h[i * d + j] -= h[i * d + k] * h[j * d + k];
            const double diagonal = std::sqrt(h[j * d + j]);
            sum += std::log(diagonal);
            for (size_t i = j; i < d; i++) h[i * d + j] /= diagonal;
        }
        return sum;
    }

    double gradient(double* out) {
        const double found = value();
        const double* x = in.f64("x");
        std::fill(inverse.begin(), inverse.end(), 0.0);
        // The transposed inverse of L: its column j solves L y = e_j.
        for (size_t j = 0; j < d; j++)
            for (size_t i = j; i < d; i++) {
                double y = i == j;
                for (size_t k = j; k < i; k++) y -= h[i * d + k] * inverse[j * d + k];
                inverse[j * d + i] = y / h[i * d + i];
            }
        std::fill(z.begin(), z.end(), 0.0);
        multiply_add(n, d, d, x, d, 1, inverse.data(), z.data());
        std::fill(out, out + d, 0.0);
        for (size_t i = 0; i < n; i++) {
            const double weight = 0.5 * p[i] * (1 - p[i]) * (1 - 2 * p[i]) * dot(d, &z[i * d], &z[i * d]);
            axpy(d, weight, x + i * d, out);
        }
        return found;
    }
};

int main(int n, char** words) { return serve<Curvature>(n, words); }
