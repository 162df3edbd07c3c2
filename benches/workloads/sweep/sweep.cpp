// Directions side by side, cell after cell. Radiation and reciprocals are kept for the way back.
#include "../lanes.hpp"
#include "../serve.hpp"

struct Sweep {
    const Arguments& in;
    size_t n, m, directions, groups, w;
    std::vector<Lanes> u, above;
    Vec flux;

    explicit Sweep(const Arguments& in)
        : in(in), n(in.dim("absorbs", 0)), m(in.dim("absorbs", 1)), directions(in.dim("down", 0)),
          groups((directions + LANES - 1) / LANES), w(m + 1), u(groups * (n + 1) * w), above(m), flux(n * m) {}
    size_t entries() const { return 2 * n * m; }

    double value() {
        const double *absorbs = in.f64("absorbs"), *emits = in.f64("emits"), *down = in.f64("down"), *right = in.f64("right");
        std::fill(flux.begin(), flux.end(), 0.0);
        for (size_t g = 0; g < groups; g++) {
            const size_t live = std::min(LANES, directions - g * LANES);
            const Lanes weight = first(live), d = gather(down + g * LANES, 1, live), r = gather(right + g * LANES, 1, live);
            Lanes* grid = &u[g * (n + 1) * w];
            for (size_t i = 0; i < n; i++) {
                const Lanes* over = grid + i * w;
                Lanes *now = grid + (i + 1) * w, left = {};
                for (size_t j = 0; j < m; j++) {
                    left = (d * over[j + 1] + r * left + emits[i * m + j]) / (d + r + absorbs[i * m + j]);
                    now[j + 1] = left;
                    flux[i * m + j] += sum(weight * left);
                }
            }
        }
        double squares = 0;
        for (double f : flux) squares += f * f;
        return squares;
    }

    double gradient(double* out) {
        const double found = value();
        const double *absorbs = in.f64("absorbs"), *down = in.f64("down"), *right = in.f64("right");
        std::fill(out, out + 2 * n * m, 0.0);
        for (size_t g = 0; g < groups; g++) {
            const size_t live = std::min(LANES, directions - g * LANES);
            const Lanes weight = first(live), d = gather(down + g * LANES, 1, live), r = gather(right + g * LANES, 1, live);
            const Lanes* grid = &u[g * (n + 1) * w];
            // What the row below gives to each cell.
            std::fill(above.begin(), above.end(), Lanes{});
            for (size_t i = n; i-- > 0;) {
                Lanes from_right = {};
                for (size_t j = m; j-- > 0;) {
                    const Lanes b = weight * (2 * flux[i * m + j]) + above[j] + from_right;
                    const Lanes q = b / (d + r + absorbs[i * m + j]);
                    out[i * m + j] -= sum(q * grid[(i + 1) * w + j + 1]);
                    out[n * m + i * m + j] += sum(q);
                    above[j] = d * q;
                    from_right = r * q;
                }
            }
        }
        return found;
    }
};

int main(int n, char** words) { return serve<Sweep>(n, words); }
