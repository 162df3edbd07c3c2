// Sequences side by side. Reverse is the backward algorithm, scaled as the forward one.
#include "../lanes.hpp"
#include "../serve.hpp"

struct States {
    static const size_t MOST = 16;
    const Arguments& in;
    size_t k, symbols, sequences, length;
    std::vector<Lanes> p, moved, scale;

    explicit States(const Arguments& in)
        : in(in), k(in.dim("start", 0)), symbols(in.dim("emit", 1)), sequences(in.dim("symbol", 0)), length(in.dim("symbol", 1)),
          p((length + 1) * k), moved(length * k), scale(length) {
        if (k > MOST) fail("this is written for at most 16 states");
    }
    size_t entries() const { return k + k * k + k * symbols; }

    // The weights of state j for the symbols that sequences side by side have at time t.
    Lanes emitted(const double* emit, const int64_t* symbol, size_t j, size_t t, size_t live) const {
        Lanes x;
        for (size_t l = 0; l < LANES; l++) x[l] = emit[j * symbols + symbol[std::min(l, live - 1) * length + t]];
        return x;
    }

    template <bool GRADIENT> double run(double* out) {
        const double *start = in.f64("start"), *step = in.f64("step"), *emit = in.f64("emit");
        std::vector<Lanes> startb(k), stepb(k * k);
        double *sb = out, *tb = out + k, *eb = tb + k * k;
        if (GRADIENT) std::fill(out, out + entries(), 0.0);
        double total = 0;
        for (size_t s = 0; s < sequences; s += LANES) {
            const size_t live = std::min(LANES, sequences - s);
            const Lanes weight = first(live);
            const int64_t* symbol = in.i64("symbol") + s * length;
            for (size_t i = 0; i < k; i++) p[i] = all(start[i]);
            // A product of scales is as good as each of them, until it is too small.
            Lanes product = all(1);
            for (size_t t = 0; t < length; t++) {
                const Lanes* now = &p[t * k];
                Lanes *next = &p[(t + 1) * k], c = {};
                for (size_t j = 0; j < k; j++) {
                    Lanes m = {};
                    for (size_t i = 0; i < k; i++) m += now[i] * step[i * k + j];
                    moved[t * k + j] = m;
                    next[j] = m * emitted(emit, symbol, j, t, live);
                    c += next[j];
                }
                const Lanes over = 1 / c;
                for (size_t j = 0; j < k; j++) next[j] *= over;
                scale[t] = over;
                product *= c;
                if (t % 16 == 15 || t + 1 == length) {
                    for (size_t l = 0; l < live; l++) total -= std::log(product[l]);
                    product = all(1);
                }
            }
            if (!GRADIENT) continue;
            Lanes back[MOST], given[MOST];
            for (size_t i = 0; i < k; i++) back[i] = -weight;
            for (size_t t = length; t-- > 0;) {
                const Lanes* now = &p[t * k];
                for (size_t j = 0; j < k; j++) {
                    const Lanes b = back[j] * scale[t], e = b * moved[t * k + j];
                    for (size_t l = 0; l < live; l++) eb[j * symbols + symbol[l * length + t]] += e[l];
                    given[j] = b * emitted(emit, symbol, j, t, live);
                }
                for (size_t i = 0; i < k; i++) {
                    Lanes b = {};
                    for (size_t j = 0; j < k; j++) {
                        b += given[j] * step[i * k + j];
                        stepb[i * k + j] += given[j] * now[i];
                    }
                    back[i] = b;
                }
            }
            for (size_t i = 0; i < k; i++) startb[i] += back[i];
        }
        if (GRADIENT) {
            for (size_t i = 0; i < k; i++) sb[i] = sum(startb[i]);
            for (size_t i = 0; i < k * k; i++) tb[i] = sum(stepb[i]);
        }
        return total;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<States>(n, words); }
