// Four vectors of paths side by side, as a step has to wait for the root of its own. The rates and roots of a path are kept.
// Where a root is zero it has no derivative.
#include "../lanes.hpp"
#include "../serve.hpp"

struct Rates {
    static const size_t GROUPS = 4, BLOCK = GROUPS * LANES;
    const Arguments& in;
    size_t paths, steps;
    std::vector<Lanes> rate, roots, normal;

    // Step t of group g is at g * steps + t.
    explicit Rates(const Arguments& in)
        : in(in), paths(in.dim("normal", 0)), steps(in.dim("normal", 1)), rate(GROUPS * steps), roots(GROUPS * steps),
          normal(GROUPS * steps) {}
    size_t entries() const { return 4; }

    // The numbers of a group's paths, of which `live` are there: blocks of as many steps as lanes are turned in registers.
    void read(const double* z, size_t live, Lanes* out) const {
        size_t t = 0;
        for (; live == LANES && t + LANES <= steps; t += LANES) {
            for (size_t l = 0; l < LANES; l++) std::memcpy(&out[t + l], z + l * steps + t, sizeof(Lanes));
            turn(out + t);
        }
        for (; t < steps; t++) out[t] = live == 0 ? Lanes{} : gather(z + t, steps, live);
    }

    template <bool GRADIENT> double run(double* out) {
        const double speed = in.number("speed"), level = in.number("level"), noise = in.number("noise");
        const double strike = in.number("strike"), dt = in.number("dt"), part = noise * std::sqrt(dt);
        const double* z = in.f64("normal");
        Lanes startb = {}, speedb = {}, levelb = {}, noiseb = {};
        double value = 0;
        for (size_t p = 0; p < paths; p += BLOCK) {
            size_t live[GROUPS];
            Lanes r[GROUPS], total[GROUPS], rb[GROUPS], totalb[GROUPS];
            for (size_t g = 0; g < GROUPS; g++) {
                const size_t from = std::min(paths, p + g * LANES);
                live[g] = std::min(LANES, paths - from);
                read(z + from * steps, live[g], &normal[g * steps]);
                r[g] = all(in.number("start")), total[g] = Lanes{};
            }
            for (size_t t = 0; t < steps; t++)
                for (size_t g = 0; g < GROUPS; g++) {
                    const Lanes s = root(r[g] > 0 ? r[g] : all(0));
                    if (GRADIENT) rate[g * steps + t] = r[g], roots[g * steps + t] = s;
                    total[g] += dt * r[g];
                    r[g] += speed * dt * (level - r[g]) + part * s * normal[g * steps + t];
                }
            for (size_t g = 0; g < GROUPS; g++) {
                const Lanes discount = first(live[g]) * exponential(-total[g]);
                const Lanes payoff = discount * (r[g] > strike ? r[g] - strike : all(0));
                value += sum(payoff);
                totalb[g] = -dt * payoff;
                rb[g] = r[g] > strike ? discount : all(0);
            }
            if (!GRADIENT) continue;
            for (size_t t = steps; t-- > 0;)
                for (size_t g = 0; g < GROUPS; g++) {
                    const Lanes s = roots[g * steps + t], moved = rb[g] * normal[g * steps + t];
                    speedb += rb[g] * (level - rate[g * steps + t]);
                    levelb += rb[g];
                    noiseb += moved * s;
                    const Lanes half = 0.5 * part * moved / (s > 0 ? s : all(1));
                    rb[g] = rb[g] * (1 - speed * dt) + (s > 0 ? half : all(0)) + totalb[g];
                }
            for (size_t g = 0; g < GROUPS; g++) startb += rb[g];
        }
        if (GRADIENT) {
            out[0] = sum(startb) / paths;
            out[1] = dt * sum(speedb) / paths;
            out[2] = speed * dt * sum(levelb) / paths;
            out[3] = std::sqrt(dt) * sum(noiseb) / paths;
        }
        return value / paths;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Rates>(n, words); }
