// A Gaussian process: the factor by rows, whose dot products are contiguous; the derivative in the covariance K is
// (inverse(K) - a a') / 2 with a = inverse(K) y.
#include "../products.hpp"
#include "../serve.hpp"

struct Surrogate {
    const Arguments& in;
    size_t n, d;
    Vec scaled, k, l, inverse, full, a;

    explicit Surrogate(const Arguments& in)
        : in(in), n(in.dim("x", 0)), d(in.dim("x", 1)), scaled(n * d), k(n * n), l(n * n), inverse(n * n), full(n * n), a(n) {}
    size_t entries() const { return d + 2; }

    double value() {
        const double *length = in.f64("length"), *x = in.f64("x"), *y = in.f64("y"), size = in.number("size"), noise = in.number("noise");
        // Coordinates one after the other, so that a row of squared distances is a vector loop for each.
        for (size_t c = 0; c < d; c++)
            for (size_t i = 0; i < n; i++) scaled[c * n + i] = x[i * d + c] / length[c];
        for (size_t i = 0; i < n; i++) {
            double* __restrict row = &k[i * n];
            std::fill(row, row + i + 1, 0.0);
            for (size_t c = 0; c < d; c++) {
                const double* __restrict z = &scaled[c * n];
                for (size_t j = 0; j <= i; j++) row[j] += (z[i] - z[j]) * (z[i] - z[j]);
            }
            for (size_t j = 0; j <= i; j++) row[j] = size * std::exp(-0.5 * row[j]);
        }
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double* row = &l[i * n];
            for (size_t j = 0; j < i; j++) row[j] = (k[i * n + j] - dot(j, row, &l[j * n])) / l[j * n + j];
            row[i] = std::sqrt(k[i * n + i] + noise - dot(i, row, row));
            a[i] = (y[i] - dot(i, row, a.data())) / row[i];
            sum += 0.5 * a[i] * a[i] + std::log(row[i]);
        }
        return sum;
    }

    double gradient(double* out) {
        const double found = value(), size = in.number("size");
        const double *length = in.f64("length");
        for (size_t i = n; i-- > 0;) {
            a[i] /= l[i * n + i];
            axpy(i, -a[i], &l[i * n], a.data());
        }
        std::fill(inverse.begin(), inverse.end(), 0.0);
        for (size_t i = 0; i < n; i++) {
            double* row = &inverse[i * n];
            const double over = 1 / l[i * n + i];
            for (size_t j = 0; j < i; j++) axpy(j + 1, -over * l[i * n + j], &inverse[j * n], row);
            row[i] = over;
        }
        std::fill(full.begin(), full.end(), 0.0);
        multiply_add(n, n, n, inverse.data(), 1, n, inverse.data(), full.data());
        double noiseb = 0, sizeb = 0;
        Vec weight(n), lengthb(d);
        for (size_t i = 0; i < n; i++) {
            noiseb += 0.5 * (full[i * n + i] - a[i] * a[i]);
            // The lower triangle counts twice but for its diagonal, where distances are zero.
            for (size_t j = 0; j < i; j++) weight[j] = (full[i * n + j] - a[i] * a[j]) * k[i * n + j];
            weight[i] = 0.5 * (full[i * n + i] - a[i] * a[i]) * k[i * n + i];
            for (size_t j = 0; j <= i; j++) sizeb += weight[j];
            for (size_t c = 0; c < d; c++) {
                const double* z = &scaled[c * n];
                double s = 0;
                for (size_t j = 0; j < i; j++) s += weight[j] * (z[i] - z[j]) * (z[i] - z[j]);
                lengthb[c] += s;
            }
        }
        for (size_t c = 0; c < d; c++) out[c] = lengthb[c] / length[c];
        out[d] = sizeb / size;
        out[d + 1] = noiseb;
        return found;
    }
};

int main(int n, char** words) { return serve<Surrogate>(n, words); }
