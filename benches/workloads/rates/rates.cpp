// Eight paths side by side; the rates and roots of a path are kept. Where a root is zero it has no derivative.
#include "../lanes.hpp"
#include "../serve.hpp"

struct Rates {
    const Arguments& in;
    size_t paths, steps;
    std::vector<Lanes> rate, roots, normal;

    explicit Rates(const Arguments& in)
        : in(in), paths(in.dim("normal", 0)), steps(in.dim("normal", 1)), rate(steps), roots(steps), normal(steps) {}
    size_t entries() const { return 4; }

    template <bool GRADIENT> double run(double* out) {
        const double speed = in.number("speed"), level = in.number("level"), noise = in.number("noise");
        const double strike = in.number("strike"), dt = in.number("dt"), sdt = std::sqrt(dt);
        const double* z = in.f64("normal");
        Lanes startb = {}, speedb = {}, levelb = {}, noiseb = {};
        double value = 0;
        for (size_t p = 0; p < paths; p += LANES) {
            const size_t live = std::min(LANES, paths - p);
            Lanes r = all(in.number("start")), total = {};
            for (size_t t = 0; t < steps; t++) {
                normal[t] = sdt * gather(z + p * steps + t, steps, live);
                const Lanes s = root(r > 0 ? r : all(0));
                if (GRADIENT) rate[t] = r, roots[t] = s;
                total += dt * r;
                r += speed * dt * (level - r) + noise * s * normal[t];
            }
            const Lanes discount = first(live) * exponential(-total), payoff = discount * (r > strike ? r - strike : all(0));
            value += sum(payoff);
            if (!GRADIENT) continue;
            const Lanes totalb = -dt * payoff;
            Lanes rb = r > strike ? discount : all(0);
            for (size_t t = steps; t-- > 0;) {
                const Lanes moved = rb * normal[t];
                speedb += rb * (level - rate[t]);
                levelb += rb;
                noiseb += moved * roots[t];
                const Lanes half = 0.5 * noise * moved / (roots[t] > 0 ? roots[t] : all(1));
                rb = rb * (1 - speed * dt) + (roots[t] > 0 ? half : all(0)) + totalb;
            }
            startb += rb;
        }
        if (GRADIENT) {
            out[0] = sum(startb) / paths;
            out[1] = dt * sum(speedb) / paths;
            out[2] = speed * dt * sum(levelb) / paths;
            out[3] = sum(noiseb) / paths;
        }
        return value / paths;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Rates>(n, words); }
