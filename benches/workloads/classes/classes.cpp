// A small network for all samples at once: five matrix products.
#include "../products.hpp"
#include "../serve.hpp"

struct Classes {
    const Arguments& in;
    size_t n, d, h, c;
    Vec turned, hidden, scores, delta;

    explicit Classes(const Arguments& in)
        : in(in), n(in.dim("x", 0)), d(in.dim("x", 1)), h(in.dim("b", 0)), c(in.dim("c", 0)), turned(h * std::max(c, d)),
          hidden(n * h), scores(n * c), delta(n * h) {}
    size_t entries() const { return h * d + h + c * h + c; }

    // The scores become those less the logarithm of their sum of exponentials.
    double value() {
        const double *w = in.f64("w"), *b = in.f64("b"), *v = in.f64("v"), *bias = in.f64("c"), *x = in.f64("x");
        const int64_t* which = in.i64("class");
        transpose(h, d, w, turned.data());
        for (size_t i = 0; i < n; i++) std::memcpy(&hidden[i * h], b, 8 * h), std::memcpy(&scores[i * c], bias, 8 * c);
        multiply_add(n, h, d, x, d, 1, turned.data(), hidden.data());
        // tanh(x) = 1 - 2 / (exp(2 x) + 1): exponentials are vector functions.
        for (size_t i = 0; i < n * h; i++) hidden[i] = 1 - 2 / (std::exp(2 * hidden[i]) + 1);
        transpose(c, h, v, turned.data());
        multiply_add(n, c, h, hidden.data(), h, 1, turned.data(), scores.data());
        double loss = 0;
        for (size_t i = 0; i < n; i++) {
            double *s = &scores[i * c], top = s[0], sum = 0;
            for (size_t k = 1; k < c; k++) top = std::max(top, s[k]);
            for (size_t k = 0; k < c; k++) sum += std::exp(s[k] - top);
            const double all = top + std::log(sum);
            for (size_t k = 0; k < c; k++) s[k] -= all;
            loss -= s[which[i]];
        }
        return loss / n;
    }

    double gradient(double* out) {
        const double loss = value();
        const double *v = in.f64("v"), *x = in.f64("x");
        const int64_t* which = in.i64("class");
        std::fill(out, out + entries(), 0.0);
        double *wb = out, *bb = wb + h * d, *vb = bb + h, *cb = vb + c * h;
        for (size_t i = 0; i < n; i++) {
            double* s = &scores[i * c];
            for (size_t k = 0; k < c; k++) s[k] = std::exp(s[k]) / n;
            s[which[i]] -= 1.0 / n;
            for (size_t k = 0; k < c; k++) cb[k] += s[k];
        }
        multiply_add(c, h, n, scores.data(), 1, c, hidden.data(), vb);
        std::fill(delta.begin(), delta.end(), 0.0);
        multiply_add(n, h, c, scores.data(), c, 1, v, delta.data());
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < h; k++) {
                delta[i * h + k] *= 1 - hidden[i * h + k] * hidden[i * h + k];
                bb[k] += delta[i * h + k];
            }
        multiply_add(h, d, n, delta.data(), 1, h, x, wb);
        return loss;
    }
};

int main(int n, char** words) { return serve<Classes>(n, words); }
