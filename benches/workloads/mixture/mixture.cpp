// Points side by side through all clusters. Sums over points are kept in lanes and added up at the end.
#include "../lanes.hpp"
#include "../serve.hpp"

struct Mixture {
    const Arguments& in;
    size_t n, k, d;

    explicit Mixture(const Arguments& in) : in(in), n(in.dim("x", 0)), k(in.dim("mean", 0)), d(in.dim("mean", 1)) {}
    size_t entries() const { return k * (d + 2); }

    template <bool GRADIENT> double run(double* out) {
        const double *weight = in.f64("weight"), *mean = in.f64("mean"), *size = in.f64("size"), *x = in.f64("x");
        Vec precision(k), base(k);
        double all_weights = 0;
        for (size_t c = 0; c < k; c++) {
            precision[c] = std::exp(-2 * size[c]);
            base[c] = weight[c] - double(d) * size[c];
            all_weights += std::exp(weight[c]);
        }
        std::vector<Lanes> point(d), square(k), term(k), weightb(k), sizeb(k), meanb(k * d);
        double total = double(n) * std::log(all_weights);
        for (size_t i = 0; i < n; i += LANES) {
            const size_t live = std::min(LANES, n - i);
            for (size_t a = 0; a < d; a++) point[a] = gather(x + i * d + a, d, live);
            Lanes top = all(-1e300);
            for (size_t c = 0; c < k; c++) {
                Lanes s = {};
                for (size_t a = 0; a < d; a++) {
                    const Lanes e = point[a] - mean[c * d + a];
                    s += e * e;
                }
                square[c] = s * precision[c];
                term[c] = base[c] - 0.5 * square[c];
                top = term[c] > top ? term[c] : top;
            }
            Lanes norm = {};
            for (size_t c = 0; c < k; c++) {
                term[c] = exponential(term[c] - top);
                norm += term[c];
            }
            for (size_t l = 0; l < live; l++) total -= top[l] + std::log(norm[l]);
            if (!GRADIENT) continue;
            const Lanes over = first(live) / norm;
            for (size_t c = 0; c < k; c++) {
                const Lanes share = term[c] * over;
                weightb[c] += share;
                sizeb[c] += share * square[c];
                for (size_t a = 0; a < d; a++) meanb[c * d + a] += share * (point[a] - mean[c * d + a]);
            }
        }
        if (GRADIENT)
            for (size_t c = 0; c < k; c++) {
                const double share = sum(weightb[c]);
                out[c] = double(n) * std::exp(weight[c]) / all_weights - share;
                for (size_t a = 0; a < d; a++) out[k + c * d + a] = -precision[c] * sum(meanb[c * d + a]);
                out[k + k * d + c] = double(d) * share - sum(sizeb[c]);
            }
        return total;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Mixture>(n, words); }
