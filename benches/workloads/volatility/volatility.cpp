// Variances are one multiplication and addition a step; everything else, forward and in reverse, is a vector loop beside
// that recurrence.
#include "../serve.hpp"

struct Volatility {
    const Arguments& in;
    size_t n;
    Vec h, cot;

    explicit Volatility(const Arguments& in) : in(in), n(in.dim("r", 0)), h(n + 1), cot(n + 1) {}
    size_t entries() const { return 5; }

    double value() {
        const double base = in.number("base"), shock = in.number("shock"), loss = in.number("loss"), memory = in.number("memory");
        const double* __restrict r = in.f64("r");
        double* __restrict v = h.data();
        v[0] = in.number("first");
        for (size_t t = 0; t < n; t++) v[t + 1] = base + (r[t] < 0 ? shock + loss : shock) * r[t] * r[t];
        for (size_t t = 0; t < n; t++) v[t + 1] += memory * v[t];
        double sum = 0;
        for (size_t t = 0; t < n; t++) sum += std::log(v[t]) + r[t] * r[t] / v[t];
        return 0.5 * sum;
    }
    double gradient(double* out) {
        const double total = value(), memory = in.number("memory");
        const double *__restrict r = in.f64("r"), *__restrict v = h.data();
        double* __restrict c = cot.data();
        for (size_t t = 0; t < n; t++) {
            const double over = 1 / v[t];
            c[t] = 0.5 * over * (1 - r[t] * r[t] * over);
        }
        c[n] = 0;
        for (size_t t = n; t-- > 0;) c[t] += memory * c[t + 1];
        double base = 0, shock = 0, loss = 0, kept = 0;
        for (size_t t = 0; t < n; t++) {
            const double square = c[t + 1] * r[t] * r[t];
            base += c[t + 1];
            shock += square;
            loss += r[t] < 0 ? square : 0;
            kept += c[t + 1] * v[t];
        }
        out[0] = base, out[1] = shock, out[2] = loss, out[3] = kept, out[4] = c[0];
        return total;
    }
};

int main(int n, char** words) { return serve<Volatility>(n, words); }
