// Times side by side. The adjoint of the anomaly is that of the equation which it solves.
#include "../lanes.hpp"
#include "../serve.hpp"

struct Kepler {
    struct Place { Lanes s, c, over, along, across; };
    const Arguments& in;
    size_t planets, times;

    explicit Kepler(const Arguments& in) : in(in), planets(in.dim("period", 0)), times(in.dim("time", 0)) {}
    size_t entries() const { return 5 * planets; }

    template <bool GRADIENT> double run(double* out) {
        const double *period = in.f64("period"), *eccentricity = in.f64("eccentricity"), *phase = in.f64("phase");
        const double *amplitude = in.f64("amplitude"), *angle = in.f64("angle"), *time = in.f64("time"), *velocity = in.f64("velocity");
        std::vector<Place> kept(planets);
        std::vector<Lanes> grads(5 * planets);
        Vec ca(planets), sa(planets);
        for (size_t p = 0; p < planets; p++) ca[p] = std::cos(angle[p]), sa[p] = std::sin(angle[p]);
        double total = 0;
        for (size_t n = 0; n < times; n += LANES) {
            const size_t live = std::min(LANES, times - n);
            const Lanes weight = first(live), t = gather(time + n, 1, live);
            Lanes error = -gather(velocity + n, 1, live);
            for (size_t p = 0; p < planets; p++) {
                const double e = eccentricity[p];
                const Lanes mean = t * (2 * M_PI / period[p]) + phase[p];
                Lanes x = mean, step, s, c;
                do {
                    sine_cosine(x, s, c);
                    step = (x - e * s - mean) / (1 - e * c);
                    x -= step;
                } while (largest(magnitude(step)) > 1e-11);
                sine_cosine(x, s, c);
                const Lanes over = 1 / (1 - e * c), along = (c - e) * over, across = std::sqrt(1 - e * e) * s * over;
                kept[p] = {s, c, over, along, across};
                error += amplitude[p] * (ca[p] * (along + e) - sa[p] * across);
            }
            total += sum(weight * error * error);
            if (!GRADIENT) continue;
            const Lanes vb = weight * error * (2.0 / times);
            for (size_t p = 0; p < planets; p++) {
                const Place& o = kept[p];
                const double e = eccentricity[p], q = std::sqrt(1 - e * e);
                grads[3 * planets + p] += vb * (ca[p] * (o.along + e) - sa[p] * o.across);
                grads[4 * planets + p] -= vb * amplitude[p] * (sa[p] * (o.along + e) + ca[p] * o.across);
                const Lanes ab = vb * (amplitude[p] * ca[p]), sb = vb * (-amplitude[p] * sa[p]);
                // The distance is 1 - e c; along = (c - e) / distance, across = q s / distance.
                const Lanes distanceb = -(ab * o.along + sb * o.across) * o.over;
                const Lanes xb = (sb * q * o.over) * o.c - (ab * o.over - e * distanceb) * o.s;
                const Lanes meanb = xb * o.over;
                grads[planets + p] += ab - ab * o.over - o.c * distanceb - sb * o.s * o.over * (e / q) + meanb * o.s;
                grads[2 * planets + p] += meanb;
                grads[p] -= meanb * t * (2 * M_PI / (period[p] * period[p]));
            }
        }
        if (GRADIENT)
            for (size_t i = 0; i < 5 * planets; i++) out[i] = sum(grads[i]);
        return total / times;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Kepler>(n, words); }
