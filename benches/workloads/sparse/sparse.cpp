// Signals on a graph: rows are short, so their loops are scalar; the hyperbolic tangent is a vector loop.
#include "../serve.hpp"

struct Sparse {
    const Arguments& in;
    size_t n, edges, steps;
    Vec x, cot, back;
    std::vector<int> from, edge;

    explicit Sparse(const Arguments& in)
        : in(in), n(in.dim("start", 0)), edges(in.dim("weight", 0)), steps(in.size("steps")), x((steps + 1) * n), cot(n), back(n),
          from(in.i64("from"), in.i64("from") + edges), edge(in.i64("edge"), in.i64("edge") + n + 1) {}
    size_t entries() const { return edges + n; }

    double value() {
        const double *w = in.f64("weight"), *target = in.f64("target");
        std::memcpy(x.data(), in.f64("start"), 8 * n);
        for (size_t s = 0; s < steps; s++) {
            const double* __restrict p = &x[s * n];
            double* __restrict q = &x[(s + 1) * n];
            for (size_t r = 0; r < n; r++) {
                double sum = 0;
                for (int e = edge[r]; e < edge[r + 1]; e++) sum += w[e] * p[from[e]];
                q[r] = sum;
            }
            for (size_t r = 0; r < n; r++) q[r] = 1 - 2 / (std::exp(2 * q[r]) + 1);
        }
        double squares = 0;
        for (size_t r = 0; r < n; r++) squares += (x[steps * n + r] - target[r]) * (x[steps * n + r] - target[r]);
        return squares;
    }
    double gradient(double* out) {
        const double found = value();
        const double *w = in.f64("weight"), *target = in.f64("target");
        std::fill(out, out + edges, 0.0);
        for (size_t r = 0; r < n; r++) cot[r] = 2 * (x[steps * n + r] - target[r]);
        for (size_t s = steps; s-- > 0;) {
            const double *p = &x[s * n], *q = &x[(s + 1) * n];
            std::fill(back.begin(), back.end(), 0.0);
            for (size_t r = 0; r < n; r++) {
                const double d = cot[r] * (1 - q[r] * q[r]);
                for (int e = edge[r]; e < edge[r + 1]; e++) {
                    out[e] += d * p[from[e]];
                    back[from[e]] += d * w[e];
                }
            }
            std::swap(cot, back);
        }
        std::memcpy(out + edges, cot.data(), 8 * n);
        return found;
    }
};

int main(int n, char** words) { return serve<Sparse>(n, words); }
