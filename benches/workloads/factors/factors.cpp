// Ratings one after another; the rows of both tables are worked on along their factors.
#include "../serve.hpp"

struct Factors {
    static const size_t D = 16;
    const Arguments& in;
    size_t users, items, n;

    explicit Factors(const Arguments& in) : in(in), users(in.dim("user", 0)), items(in.dim("item", 0)), n(in.dim("rating", 0)) {
        if (in.dim("user", 1) != D) fail("this is written for sixteen factors");
    }
    size_t entries() const { return (users + items) * D; }

    template <bool GRADIENT> double run(double* out) {
        const double *user = in.f64("user"), *item = in.f64("item"), *rating = in.f64("rating"), decay = in.number("decay");
        const int64_t *who = in.i64("who"), *what = in.i64("what");
        double squares = 0, sum = 0;
        double* more = GRADIENT ? out + users * D : nullptr;
        for (size_t i = 0; i < users * D; i++) {
            squares += user[i] * user[i];
            if (GRADIENT) out[i] = 2 * decay * user[i];
        }
        for (size_t i = 0; i < items * D; i++) {
            squares += item[i] * item[i];
            if (GRADIENT) more[i] = 2 * decay * item[i];
        }
        for (size_t r = 0; r < n; r++) {
            const double* __restrict u = user + who[r] * D;
            const double* __restrict v = item + what[r] * D;
            double e = -rating[r];
            for (size_t d = 0; d < D; d++) e += u[d] * v[d];
            sum += e * e;
            if (!GRADIENT) continue;
            double* __restrict ub = out + who[r] * D;
            double* __restrict vb = more + what[r] * D;
            for (size_t d = 0; d < D; d++) ub[d] += 2 * e * v[d], vb[d] += 2 * e * u[d];
        }
        return sum + decay * squares;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Factors>(n, words); }
