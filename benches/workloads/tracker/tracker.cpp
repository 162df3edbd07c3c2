// A Kalman filter with four states, whose matrices stay in registers. P is symmetric, and so is its adjoint.
#include "../serve.hpp"

struct Tracker {
    static const int D = 4;
    struct Step { double x[D], p[D][D], xp[D], pp[D][D], g[D], s, e; };
    const Arguments& in;
    size_t n;
    std::vector<Step> steps;

    explicit Tracker(const Arguments& in) : in(in), n(in.dim("z", 0)), steps(n) {
        if (in.dim("h", 0) != D) fail("this is written for four states");
    }
    size_t entries() const { return D * D + 2 * D + 1; }

    template <bool KEEP> double run() {
        const double *f = in.f64("f"), *h = in.f64("h"), *q = in.f64("q"), *z = in.f64("z"), r = in.number("r");
        double x[D] = {}, p[D][D] = {}, loss = 0;
        for (int i = 0; i < D; i++) p[i][i] = q[i];
        for (size_t t = 0; t < n; t++) {
            double xp[D], fp[D][D], pp[D][D], g[D], s = r, e = z[t];
            for (int i = 0; i < D; i++) {
                xp[i] = 0;
                for (int k = 0; k < D; k++) xp[i] += f[i * D + k] * x[k];
                for (int j = 0; j < D; j++) {
                    fp[i][j] = 0;
                    for (int k = 0; k < D; k++) fp[i][j] += f[i * D + k] * p[k][j];
                }
            }
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++) {
                    pp[i][j] = i == j ? q[i] : 0;
                    for (int k = 0; k < D; k++) pp[i][j] += fp[i][k] * f[j * D + k];
                }
            for (int i = 0; i < D; i++) {
                g[i] = 0;
                for (int k = 0; k < D; k++) g[i] += pp[i][k] * h[k];
                s += h[i] * g[i];
                e -= h[i] * xp[i];
            }
            if (KEEP) {
                Step& o = steps[t];
                std::memcpy(o.x, x, sizeof x), std::memcpy(o.p, p, sizeof p);
                std::memcpy(o.xp, xp, sizeof xp), std::memcpy(o.pp, pp, sizeof pp), std::memcpy(o.g, g, sizeof g);
                o.s = s, o.e = e;
            }
            const double is = 1 / s;
            loss += 0.5 * (e * e * is + std::log(s));
            for (int i = 0; i < D; i++) {
                x[i] = xp[i] + e * is * g[i];
                for (int j = 0; j < D; j++) p[i][j] = pp[i][j] - g[i] * g[j] * is;
            }
        }
        return loss;
    }
    double value() { return run<false>(); }

    double gradient(double* out) {
        const double loss = run<true>();
        const double *f = in.f64("f"), *h = in.f64("h");
        double fb[D][D] = {}, hb[D] = {}, qb[D] = {}, rb = 0, xb[D] = {}, pb[D][D] = {};
        for (size_t t = n; t-- > 0;) {
            const Step& o = steps[t];
            const double is = 1 / o.s, es = o.e * is;
            double pg[D], gb[D], gpg = 0, xg = 0;
            for (int i = 0; i < D; i++) {
                pg[i] = 0;
                for (int j = 0; j < D; j++) pg[i] += pb[i][j] * o.g[j];
                gpg += o.g[i] * pg[i];
                xg += xb[i] * o.g[i];
            }
            const double eb = es + xg * is;
            const double sb = (gpg * is - es * xg + 0.5 * (1 - o.e * es)) * is;
            double m[D][D], mf[D][D];
            for (int i = 0; i < D; i++) {
                gb[i] = sb * h[i] + es * xb[i] - 2 * is * pg[i];
                hb[i] += sb * o.g[i] - eb * o.xp[i];
                xb[i] -= eb * h[i];
            }
            for (int i = 0; i < D; i++) {
                for (int k = 0; k < D; k++) hb[i] += o.pp[k][i] * gb[k];
                for (int j = 0; j < D; j++) m[i][j] = pb[i][j] + 0.5 * (gb[i] * h[j] + gb[j] * h[i]);
                qb[i] += m[i][i];
            }
            rb += sb;
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++) {
                    mf[i][j] = 0;
                    for (int k = 0; k < D; k++) mf[i][j] += m[i][k] * f[k * D + j];
                }
            double back[D];
            for (int i = 0; i < D; i++) {
                back[i] = 0;
                for (int k = 0; k < D; k++) back[i] += f[k * D + i] * xb[k];
                for (int j = 0; j < D; j++) {
                    double c = xb[i] * o.x[j], d = 0;
                    for (int k = 0; k < D; k++) c += 2 * mf[i][k] * o.p[k][j], d += f[k * D + i] * mf[k][j];
                    fb[i][j] += c;
                    pb[i][j] = d;
                }
            }
            std::memcpy(xb, back, sizeof xb);
        }
        for (int i = 0; i < D; i++) {
            qb[i] += pb[i][i];
            for (int j = 0; j < D; j++) out[i * D + j] = fb[i][j];
            out[D * D + i] = hb[i];
            out[D * D + D + i] = qb[i];
        }
        out[D * D + 2 * D] = rb;
        return loss;
    }
};

int main(int n, char** words) { return serve<Tracker>(n, words); }
