// An epidemic: each stage is a product with the matrix of contacts. The stages' arguments are kept; the derivative in the
// matrix is one product of all their cotangents with them, after the loop.
#include "../products.hpp"
#include "../serve.hpp"

struct Epidemic {
    const Arguments& in;
    size_t g, n;
    Vec turned, s, i, force, forceb, last;

    // Row 4 t + k of the arrays is stage k of step t.
    explicit Epidemic(const Arguments& in)
        : in(in), g(in.dim("start", 0)), n(in.dim("observed", 0)), turned(g * g), s(4 * n * g), i(s), force(s), forceb(s), last(n * g) {}
    size_t entries() const { return g * g + 1 + g; }

    double value() {
        const double *contact = in.f64("contact"), *start = in.f64("start"), *observed = in.f64("observed");
        const double recovery = in.number("recovery"), dt = in.number("dt");
        const double ahead[4] = {0.5 * dt, 0.5 * dt, dt, 0}, share[4] = {dt / 6, dt / 3, dt / 3, dt / 6};
        transpose(g, g, contact, turned.data());
        Vec healthy(g), ill(g), next_healthy(g), next_ill(g);
        for (size_t a = 0; a < g; a++) healthy[a] = 1 - start[a], ill[a] = start[a];
        double loss = 0;
        for (size_t t = 0; t < n; t++) {
            std::memcpy(&s[4 * t * g], healthy.data(), 8 * g);
            std::memcpy(&i[4 * t * g], ill.data(), 8 * g);
            next_healthy = healthy, next_ill = ill;
            for (size_t k = 0; k < 4; k++) {
                double *sk = &s[(4 * t + k) * g], *ik = &i[(4 * t + k) * g], *f = &force[(4 * t + k) * g];
                std::fill(f, f + g, 0.0);
                add_row_product(g, g, ik, turned.data(), f);
                for (size_t a = 0; a < g; a++) {
                    const double infected = sk[a] * f[a], change = infected - recovery * ik[a];
                    next_healthy[a] -= share[k] * infected;
                    next_ill[a] += share[k] * change;
                    if (k == 3) continue;
                    sk[g + a] = healthy[a] - ahead[k] * infected;
                    ik[g + a] = ill[a] + ahead[k] * change;
                }
            }
            std::swap(healthy, next_healthy);
            std::swap(ill, next_ill);
            for (size_t a = 0; a < g; a++) {
                last[t * g + a] = ill[a] - observed[t * g + a];
                loss += last[t * g + a] * last[t * g + a];
            }
        }
        return loss;
    }

    double gradient(double* out) {
        const double loss = value();
        const double *contact = in.f64("contact"), recovery = in.number("recovery"), dt = in.number("dt");
        const double ahead[4] = {0, 0.5 * dt, 0.5 * dt, dt}, share[4] = {dt / 6, dt / 3, dt / 3, dt / 6};
        double recoveryb = 0;
        // The cotangents of the state after a step, of that before it, and of a stage's argument.
        Vec sb(g), ib(g), before_s(g), before_i(g), stage_s(g), stage_i(g);
        for (size_t t = n; t-- > 0;) {
            for (size_t a = 0; a < g; a++) ib[a] += 2 * last[t * g + a];
            before_s = sb, before_i = ib;
            std::fill(stage_s.begin(), stage_s.end(), 0.0);
            std::fill(stage_i.begin(), stage_i.end(), 0.0);
            for (size_t k = 4; k-- > 0;) {
                // A stage's slope is in the sum of the step, and in the argument of the next stage.
                const double next = k == 3 ? 0 : ahead[k + 1];
                const double *sk = &s[(4 * t + k) * g], *ik = &i[(4 * t + k) * g], *f = &force[(4 * t + k) * g];
                double* fb = &forceb[(4 * t + k) * g];
                for (size_t a = 0; a < g; a++) {
                    const double slope_s = share[k] * sb[a] + next * stage_s[a], slope_i = share[k] * ib[a] + next * stage_i[a];
                    const double infected = slope_i - slope_s;
                    fb[a] = infected * sk[a];
                    stage_s[a] = infected * f[a];
                    stage_i[a] = -recovery * slope_i;
                    recoveryb -= slope_i * ik[a];
                }
                add_row_product(g, g, fb, contact, stage_i.data());
                for (size_t a = 0; a < g; a++) before_s[a] += stage_s[a], before_i[a] += stage_i[a];
            }
            std::swap(sb, before_s);
            std::swap(ib, before_i);
        }
        std::fill(out, out + g * g, 0.0);
        multiply_add(g, g, 4 * n, forceb.data(), 1, g, i.data(), out);
        out[g * g] = recoveryb;
        for (size_t a = 0; a < g; a++) out[g * g + 1 + a] = ib[a] - sb[a];
        return loss;
    }
};

int main(int n, char** words) { return serve<Epidemic>(n, words); }
