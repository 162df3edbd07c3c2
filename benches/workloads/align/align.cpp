// All alignments by antidiagonals, whose cells are independent: diagonal k has the cells (i, k - i), at index i. Three
// weights of each cell are kept, the shares of the ways into it, and the adjoint gathers by them.
#include "../serve.hpp"

struct Align {
    const Arguments& in;
    size_t n, m, letters, w;
    Vec s, both, first, second, cot;

    explicit Align(const Arguments& in)
        : in(in), n(in.dim("a", 0)), m(in.dim("b", 0)), letters(in.dim("score", 0)), w(n + 2), s((n + m + 1) * w),
          both((n + m + 3) * w), first(both.size()), second(both.size()), cot((n + m + 3) * w) {}
    size_t entries() const { return letters * letters + 1; }
    // Of the cells of diagonal k with i and j above zero.
    size_t low(size_t k) const { return k > m ? k - m : 1; }
    size_t high(size_t k) const { return std::min(n, k - 1); }

    template <bool KEEP> double run() {
        const double *score = in.f64("score"), gap = in.number("gap");
        const int64_t *a = in.i64("a"), *b = in.i64("b");
        Vec matched(w);
        for (size_t k = 0; k <= n + m; k++) {
            double* __restrict now = &s[k * w];
            if (k <= m) now[0] = -gap * k;
            if (k <= n) now[k] = -gap * k;
            if (k < 2) continue;
            const double *__restrict before = now - w, *__restrict earlier = now - 2 * w;
            double *__restrict kb = &both[k * w], *__restrict kf = &first[k * w], *__restrict ks = &second[k * w];
            const size_t from = low(k), to = high(k);
            for (size_t i = from; i <= to; i++) matched[i] = score[a[i - 1] * letters + b[k - i - 1]];
            for (size_t i = from; i <= to; i++) {
                const double x = earlier[i - 1] + matched[i], y = before[i - 1] - gap, z = before[i] - gap;
                const double top = std::max(x, std::max(y, z));
                const double ex = std::exp(x - top), ey = std::exp(y - top), ez = std::exp(z - top), sum = ex + ey + ez;
                now[i] = top + std::log(sum);
                if (KEEP) {
                    const double share = 1 / sum;
                    kb[i] = ex * share, kf[i] = ey * share, ks[i] = ez * share;
                }
            }
        }
        return s[(n + m) * w + n];
    }
    double value() { return run<false>(); }

    double gradient(double* out) {
        const double found = run<true>();
        const int64_t *a = in.i64("a"), *b = in.i64("b");
        std::fill(out, out + entries(), 0.0);
        std::fill(cot.begin(), cot.end(), 0.0);
        cot[(n + m) * w + n] = 1;
        double gap_cot = 0;
        for (size_t k = n + m; k >= 1; k--) {
            double* __restrict now = &cot[k * w];
            const double *__restrict next = now + w, *__restrict after = now + 2 * w;
            const double *fb = &both[(k + 2) * w], *ff = &first[(k + 1) * w], *fs = &second[(k + 1) * w];
            const size_t from = k > m ? k - m : 0, to = std::min(n, k);
            if (k < n + m)
                for (size_t i = from; i <= to; i++)
                    now[i] = after[i + 1] * fb[i + 1] + next[i + 1] * ff[i + 1] + next[i] * fs[i];
            if (k <= m) gap_cot -= now[0] * k;
            if (k <= n) gap_cot -= now[k] * k;
            if (k < 2) continue;
            const double *kb = &both[k * w], *kf = &first[k * w], *ks = &second[k * w];
            for (size_t i = low(k); i <= high(k); i++) gap_cot -= now[i] * (kf[i] + ks[i]);
            for (size_t i = low(k); i <= high(k); i++) out[a[i - 1] * letters + b[k - i - 1]] += now[i] * kb[i];
        }
        out[letters * letters] = gap_cot;
        return found;
    }
};

int main(int n, char** words) { return serve<Align>(n, words); }
