// Rays side by side. The adjoint of a meeting point is that of the equation which it solves: Newton's steps leave
// nothing behind.
#include "../lanes.hpp"
#include "../serve.hpp"

struct Lens {
    struct Surface { Lanes y, t, p, q, m, size, cosine, inner; };
    const Arguments& in;
    size_t surfaces, rays;

    explicit Lens(const Arguments& in) : in(in), surfaces(in.dim("curvature", 0)), rays(in.dim("height", 0)) {}
    size_t entries() const { return 4 * surfaces; }

    template <bool GRADIENT> double run(double* out) {
        const double *curvature = in.f64("curvature"), *conic = in.f64("conic"), *fourth = in.f64("fourth");
        const double *gap = in.f64("gap"), *index = in.f64("index"), *height = in.f64("height");
        std::vector<Surface> kept(surfaces);
        std::vector<Lanes> grads(4 * surfaces);
        double total = 0;
        for (size_t r = 0; r < rays; r += LANES) {
            const size_t live = std::min(LANES, rays - r);
            const Lanes weight = first(live);
            Lanes y = gather(height + r, 1, live), z = all(-1), p = all(0), q = all(1);
            for (size_t s = 0; s < surfaces; s++) {
                const double c = curvature[s], k = conic[s], a = fourth[s], kc = (1 + k) * c * c;
                Lanes t = -z / q, step;
                do {
                    const Lanes at = y + t * p, y2 = at * at, w = root(1 - kc * y2);
                    step = (z + t * q - c * y2 / (1 + w) - a * y2 * y2) / (q - (c * at / w + 4 * a * at * y2) * p);
                    t -= step;
                } while (largest(magnitude(step)) > 1e-11);
                y += t * p;
                z += t * q;
                const Lanes y2 = y * y, m = c * y / root(1 - kc * y2) + 4 * a * y * y2, size = root(1 + m * m);
                const Lanes cosine = (q - m * p) / size;
                const double ratio = index[s] / index[s + 1];
                const Lanes inner = root(1 - ratio * ratio * (1 - cosine * cosine)), turn = (inner - ratio * cosine) / size;
                if (GRADIENT) kept[s] = {y, t, p, q, m, size, cosine, inner};
                p = ratio * p - turn * m;
                q = ratio * q + turn;
                z -= gap[s];
            }
            const Lanes image = y - z * p / q;
            total += sum(weight * image * image);
            if (!GRADIENT) continue;
            const Lanes ib = weight * 2 * image / double(rays);
            Lanes yb = ib, zb = -ib * p / q, pb = -ib * z / q, qb = ib * z * p / (q * q);
            for (size_t s = surfaces; s-- > 0;) {
                const Surface& o = kept[s];
                const double c = curvature[s], k = conic[s], a = fourth[s], kc = (1 + k) * c * c, ratio = index[s] / index[s + 1];
                const Lanes turn = (o.inner - ratio * o.cosine) / o.size;
                grads[3 * surfaces + s] -= zb;
                // p' = ratio p - turn m, q' = ratio q + turn
                const Lanes turnb = qb - pb * o.m;
                Lanes mb = -pb * turn;
                pb *= ratio;
                qb *= ratio;
                // turn = (inner - ratio cosine) / size, inner = sqrt(1 - ratio^2 (1 - cosine^2))
                const Lanes innerb = turnb / o.size, cosb = innerb * ratio * (ratio * o.cosine / o.inner - 1);
                const Lanes sizeb = -(turnb * turn + cosb * o.cosine) / o.size;
                // cosine = (q - m p) / size, size = sqrt(1 + m^2)
                const Lanes over = cosb / o.size;
                qb += over;
                pb -= over * o.m;
                mb += sizeb * o.m / o.size - over * o.p;
                // m = c y / w + 4 a y^3, w = sqrt(1 - (1 + k) c^2 y^2)
                const Lanes y = o.y, y2 = y * y, w = root(1 - kc * y2), w3 = w * w * w;
                yb += mb * (c / w3 + 12 * a * y2);
                Lanes cb = mb * y / w3, kb = mb * 0.5 * c * c * c * y * y2 / w3, ab = mb * 4 * y * y2;
                // y = y0 + t p, z = z0 + t q, and z = sag(y): t moves by what the other quantities do to z - sag(y).
                const Lanes tb = yb * o.p + zb * o.q, fb = -tb / (o.q - o.m * o.p);
                const Lanes v = 1 + w, v2 = v * v;
                // The sag c y^2 / (1 + w) + a y^4 enters with a minus.
                cb -= fb * (y2 / v + c * y2 * (1 + k) * c * y2 / (w * v2));
                kb -= fb * c * y2 * 0.5 * c * c * y2 / (w * v2);
                ab -= fb * y2 * y2;
                const Lanes y0b = yb - fb * o.m, z0b = zb + fb;
                pb += y0b * o.t;
                qb += z0b * o.t;
                yb = y0b;
                zb = z0b;
                grads[s] += cb;
                grads[surfaces + s] += kb;
                grads[2 * surfaces + s] += ab;
            }
        }
        if (GRADIENT)
            for (size_t i = 0; i < 4 * surfaces; i++) out[i] = sum(grads[i]);
        return total / rays;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Lens>(n, words); }
