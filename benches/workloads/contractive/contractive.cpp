// Row h of the Jacobian is (1 - y_h^2) w_h, so its squares are (1 - y_h^2)^2 |w_h|^2: two matrix products in all.
#include "../products.hpp"
#include "../serve.hpp"

struct Contractive {
    const Arguments& in;
    size_t n, d, h;
    Vec turned, y, length, share;

    explicit Contractive(const Arguments& in)
        : in(in), n(in.dim("x", 0)), d(in.dim("x", 1)), h(in.dim("b", 0)), turned(h * d), y(n * h), length(h), share(h) {}
    size_t entries() const { return h * d + h; }

    double value() {
        const double *w = in.f64("w"), *b = in.f64("b"), *x = in.f64("x");
        transpose(h, d, w, turned.data());
        for (size_t i = 0; i < n; i++) std::memcpy(&y[i * h], b, 8 * h);
        multiply_add(n, h, d, x, d, 1, turned.data(), y.data());
        // tanh(x) = 1 - 2 / (exp(2 x) + 1): exponentials are vector functions.
        for (size_t i = 0; i < n * h; i++) y[i] = 1 - 2 / (std::exp(2 * y[i]) + 1);
        std::fill(share.begin(), share.end(), 0.0);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < h; k++) {
                const double s = 1 - y[i * h + k] * y[i * h + k];
                share[k] += s * s / n;
            }
        double sum = 0;
        for (size_t k = 0; k < h; k++) {
            length[k] = dot(d, w + k * d, w + k * d);
            sum += share[k] * length[k];
        }
        return sum;
    }
    double gradient(double* out) {
        const double found = value();
        const double *w = in.f64("w"), *x = in.f64("x");
        for (size_t k = 0; k < h; k++)
            for (size_t c = 0; c < d; c++) out[k * d + c] = 2 * share[k] * w[k * d + c];
        double* bb = out + h * d;
        std::fill(bb, bb + h, 0.0);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < h; k++) {
                const double t = y[i * h + k], s = 1 - t * t;
                y[i * h + k] = -4.0 / n * length[k] * t * s * s;
                bb[k] += y[i * h + k];
            }
        multiply_add(h, d, n, y.data(), 1, h, x, out);
        return found;
    }
};

int main(int n, char** words) { return serve<Contractive>(n, words); }
