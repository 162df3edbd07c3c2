// A moving front on grids with a ghost layer: all loops are over whole rows. Every step's grid is kept. In reverse, four
// planes hold what each cell gives to its neighbours, and each cell gathers.
#include "../serve.hpp"

struct LevelSet {
    const Arguments& in;
    size_t n, m, w, size, steps;
    Vec grids, cot, planes;

    explicit LevelSet(const Arguments& in)
        : in(in), n(in.dim("phi", 0)), m(in.dim("phi", 1)), w(m + 2), size((n + 2) * w), steps(in.size("steps")),
          grids((steps + 1) * size), cot(size), planes(4 * size) {}
    size_t entries() const { return 2 * n * m; }

    static double above(double x) { return x > 0 ? x : 0; }
    static double below(double x) { return x < 0 ? x : 0; }
    void ghosts(double* p) const {
        for (size_t i = 1; i <= n; i++) p[i * w] = p[i * w + 1], p[i * w + m + 1] = p[i * w + m];
        std::memcpy(p, p + w, 8 * w);
        std::memcpy(p + (n + 1) * w, p + n * w, 8 * w);
    }
    template <bool KEEP> const double* run() {
        const double *phi = in.f64("phi"), *__restrict speed = in.f64("speed"), dt = in.number("dt");
        for (size_t i = 0; i < n; i++) std::memcpy(&grids[(i + 1) * w + 1], phi + i * m, 8 * m);
        ghosts(&grids[0]);
        for (size_t s = 0; s < steps; s++) {
            const double* __restrict p = &grids[(KEEP ? s : s % 2) * size];
            double* __restrict q = &grids[(KEEP ? s + 1 : (s + 1) % 2) * size];
            for (size_t i = 1; i <= n; i++)
                for (size_t j = 1; j <= m; j++) {
                    const size_t k = i * w + j;
                    const double a = above(p[k] - p[k - w]), b = below(p[k + w] - p[k]);
                    const double c = above(p[k] - p[k - 1]), d = below(p[k + 1] - p[k]);
                    q[k] = p[k] - dt * speed[(i - 1) * m + j - 1] * std::sqrt(a * a + b * b + c * c + d * d);
                }
            ghosts(q);
        }
        return &grids[(KEEP ? steps : steps % 2) * size];
    }
    double area(const double* p) const {
        double sum = 0;
        for (size_t i = 1; i <= n; i++)
            for (size_t j = 1; j <= m; j++) sum += 1 / (1 + std::exp(p[i * w + j]));
        return sum;
    }
    double value() { return area(run<false>()); }

    double gradient(double* out) {
        const double* last = run<true>();
        const double *__restrict speed = in.f64("speed"), dt = in.number("dt");
        double* __restrict speed_cot = out + n * m;
        std::fill(out, out + 2 * n * m, 0.0);
        std::fill(cot.begin(), cot.end(), 0.0);
        std::fill(planes.begin(), planes.end(), 0.0);
        for (size_t i = 1; i <= n; i++)
            for (size_t j = 1; j <= m; j++) {
                const double y = 1 / (1 + std::exp(last[i * w + j]));
                cot[i * w + j] = -y * (1 - y);
            }
        double *__restrict pa = &planes[0], *__restrict pb = pa + size, *__restrict pc = pb + size, *__restrict pd = pc + size;
        double* __restrict g = cot.data();
        for (size_t s = steps; s-- > 0;) {
            const double* __restrict p = &grids[s * size];
            for (size_t i = 1; i <= n; i++)
#pragma GCC ivdep
                for (size_t j = 1; j <= m; j++) {
                    const size_t k = i * w + j, f = (i - 1) * m + j - 1;
                    const double a = above(p[k] - p[k - w]), b = below(p[k + w] - p[k]);
                    const double c = above(p[k] - p[k - 1]), d = below(p[k + 1] - p[k]);
                    const double root = std::sqrt(a * a + b * b + c * c + d * d);
                    speed_cot[f] -= dt * g[k] * root;
                    // Where the root is 0, so are all four differences.
                    const double t = -dt * speed[f] * g[k] / (root > 1e-300 ? root : 1e-300);
                    pa[k] = t * a, pb[k] = t * b, pc[k] = t * c, pd[k] = t * d;
                }
            for (size_t i = 1; i <= n; i++)
                for (size_t j = 1; j <= m; j++) {
                    const size_t k = i * w + j;
                    g[k] += pa[k] - pb[k] + pc[k] - pd[k] - pa[k + w] + pb[k - w] - pc[k + 1] + pd[k - 1];
                }
        }
        for (size_t i = 0; i < n; i++) std::memcpy(out + i * m, &cot[(i + 1) * w + 1], 8 * m);
        return area(last);
    }
};

int main(int n, char** words) { return serve<LevelSet>(n, words); }
