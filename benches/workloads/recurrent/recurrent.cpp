// A recurrent layer: what does not depend on the state is one matrix product before the loop, the derivatives in both
// matrices one each after it.
#include "../products.hpp"
#include "../serve.hpp"

struct Recurrent {
    const Arguments& in;
    size_t n, width, cells;
    Vec turned, given, h, delta, error;

    explicit Recurrent(const Arguments& in)
        : in(in), n(in.dim("x", 0)), width(in.dim("x", 1)), cells(in.dim("b", 0)), turned(cells * std::max(cells, width)),
          given(n * cells), h((n + 1) * cells), delta(n * cells), error(n) {}
    size_t entries() const { return cells * (width + cells + 2); }

    double value() {
        const double *w = in.f64("w"), *u = in.f64("u"), *b = in.f64("b"), *v = in.f64("v"), *x = in.f64("x"), *y = in.f64("y");
        transpose(cells, width, w, turned.data());
        for (size_t t = 0; t < n; t++) std::memcpy(&given[t * cells], b, 8 * cells);
        multiply_add(n, cells, width, x, width, 1, turned.data(), given.data());
        transpose(cells, cells, u, turned.data());
        double loss = 0;
        for (size_t t = 0; t < n; t++) {
            double* now = &h[(t + 1) * cells];
            std::memcpy(now, &given[t * cells], 8 * cells);
            add_row_product(cells, cells, &h[t * cells], turned.data(), now);
            // tanh(x) = 1 - 2 / (exp(2 x) + 1): exponentials are vector functions.
            for (size_t i = 0; i < cells; i++) now[i] = 1 - 2 / (std::exp(2 * now[i]) + 1);
            error[t] = dot(cells, v, now) - y[t];
            loss += error[t] * error[t];
        }
        return loss / n;
    }

    double gradient(double* out) {
        const double loss = value();
        const double *u = in.f64("u"), *v = in.f64("v"), *x = in.f64("x");
        std::fill(out, out + entries(), 0.0);
        double *wb = out, *ub = wb + cells * width, *bb = ub + cells * cells, *vb = bb + cells;
        Vec back(cells);
        for (size_t t = n; t-- > 0;) {
            const double *now = &h[(t + 1) * cells], e = 2.0 / n * error[t];
            double* d = &delta[t * cells];
            for (size_t i = 0; i < cells; i++) {
                d[i] = (back[i] + e * v[i]) * (1 - now[i] * now[i]);
                vb[i] += e * now[i];
                bb[i] += d[i];
                back[i] = 0;
            }
            add_row_product(cells, cells, d, u, back.data());
        }
        multiply_add(cells, width, n, delta.data(), 1, cells, x, wb);
        multiply_add(cells, cells, n, delta.data(), 1, cells, h.data(), ub);
        return loss;
    }
};

int main(int n, char** words) { return serve<Recurrent>(n, words); }
