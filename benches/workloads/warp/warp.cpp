// Registration by rows: splines are separable, so a row's sums over four rows of control points come first, and what a row
// gives to its control points is summed up along the row before it is spread.
#include "../serve.hpp"

struct Warp {
    const Arguments& in;
    size_t n, m, g, h;
    Vec row, rowb, weight;
    std::vector<size_t> piece;

    explicit Warp(const Arguments& in)
        : in(in), n(in.dim("image", 0)), m(in.dim("image", 1)), g(in.dim("move", 0)), h(in.dim("move", 1)), row(2 * h), rowb(2 * h),
          weight(4 * m), piece(m) {
        for (size_t j = 0; j < m; j++) piece[j] = spline(j, h, m, &weight[4 * j]);
    }
    size_t entries() const { return 2 * g * h; }

    // The piece of point k of `points`, and its four weights.
    static size_t spline(size_t k, size_t controls, size_t points, double* w) {
        const double a = double(k) * double(controls - 3) / double(points), start = std::floor(a), t = a - start, r = 1 - t;
        w[0] = r * r * r / 6, w[1] = (3 * t * t * t - 6 * t * t + 4) / 6;
        w[2] = (1 + 3 * t + 3 * t * t - 3 * t * t * t) / 6, w[3] = t * t * t / 6;
        return (size_t)start;
    }

    template <bool GRADIENT> double run(double* out) {
        const double *move = in.f64("move"), *image = in.f64("image"), *target = in.f64("target");
        const double most_y = double(n) - 1.000001, most_x = double(m) - 1.000001;
        if (GRADIENT) std::fill(out, out + entries(), 0.0);
        double total = 0;
        for (size_t i = 0; i < n; i++) {
            double wa[4];
            const size_t top = spline(i, g, n, wa);
            for (size_t c = 0; c < 2 * h; c++) {
                row[c] = 0, rowb[c] = 0;
                for (size_t k = 0; k < 4; k++) row[c] += wa[k] * move[(top + k) * 2 * h + c];
            }
            for (size_t j = 0; j < m; j++) {
                const double* w = &weight[4 * j];
                const double* c = &row[2 * piece[j]];
                const double y = double(i) + w[0] * c[0] + w[1] * c[2] + w[2] * c[4] + w[3] * c[6];
                const double x = double(j) + w[0] * c[1] + w[1] * c[3] + w[2] * c[5] + w[3] * c[7];
                const double v = std::min(std::max(y, 0.0), most_y), u = std::min(std::max(x, 0.0), most_x);
                const long a = (long)v, b = (long)u;
                const double s = v - double(a), t = u - double(b);
                const double* p = image + a * (long)m + b;
                const double low = p[0] + t * (p[1] - p[0]), high = p[m] + t * (p[m + 1] - p[m]);
                const double e = low + s * (high - low) - target[i * m + j];
                total += e * e;
                if (!GRADIENT) continue;
                const double yb = v == y ? e * (high - low) : 0;
                const double xb = u == x ? e * ((1 - s) * (p[1] - p[0]) + s * (p[m + 1] - p[m])) : 0;
                double* cb = &rowb[2 * piece[j]];
                for (size_t l = 0; l < 4; l++) cb[2 * l] += w[l] * yb, cb[2 * l + 1] += w[l] * xb;
            }
            if (!GRADIENT) continue;
            for (size_t k = 0; k < 4; k++)
                for (size_t c = 0; c < 2 * h; c++) out[(top + k) * 2 * h + c] += wa[k] * rowb[c];
        }
        const double scale = 1.0 / double(n) / double(m);
        if (GRADIENT)
            for (size_t c = 0; c < entries(); c++) out[c] *= 2 * scale;
        return total * scale;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Warp>(n, words); }
