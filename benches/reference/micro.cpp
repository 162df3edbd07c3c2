// Hand-written C++ value and adjoint of the three loop problems: the near-limit references.
//   micro PEER PROBLEM NAME - - OUT.bin BUDGET      PROBLEM: newton | mass_spring | ode_rk4
// PEER picks the method: hand (reverse sweep) or hand-fwd (tangents along the forward sweep) or hand-simd (newton only).
#include <cstdlib>
#include "loops.hpp"
#include "timing.h"
typedef std::vector<double> Vec;
static volatile double sink;

// --- newton -----------------------------------------------------------------------------------------------
// Step x' = x - (x^3-a)/(3x^2) = (2x + a/x^2)/3, so dx'/dx = 2/3 (1 - a/x^3), dx'/da = 1/(3x^2).
static double newton_rev(int n, const double* a, double* g) {
    double s = 0;
    for (int i = 0; i < n; i++) {
        double tape[50], x = 1.0;
        int m = 0;
        while (m < 50) {
            tape[m++] = x;
            double dx = (x * x * x - a[i]) / (3.0 * x * x);
            x -= dx;
            if (std::fabs(dx) < 1e-12) break;
        }
        s += x;
        double xb = 1, ab = 0;
        while (m-- > 0) {
            double r = 1.0 / tape[m], r2 = r * r;
            ab += xb * r2 * (1.0 / 3.0);
            xb *= (2.0 / 3.0) * (1.0 - a[i] * r2 * r);
        }
        g[i] = ab;
    }
    return s;
}
static double newton_fwd(int n, const double* a, double* g) {
    double s = 0;
    for (int i = 0; i < n; i++) {
        double x = 1.0, d = 0;
        for (int m = 0; m < 50; m++) {
            double q = 1.0 / (3.0 * x * x), dx = (x * x * x - a[i]) * q;
            d = (2.0 / 3.0) * d * (1.0 - a[i] * 3.0 * q / x) + q;
            x -= dx;
            if (std::fabs(dx) < 1e-12) break;
        }
        s += x;
        g[i] = d;
    }
    return s;
}
template <bool GRAD> static double newton_simd(int n, const double* a, double* g) {  // 16 elements a block, masked
    const int W = 16;
    double s = 0;
    for (int i0 = 0; i0 < n; i0 += W) {
        double x[W], d[W], v[W], on[W];
        int w = n - i0 < W ? n - i0 : W;
        for (int j = 0; j < W; j++) { x[j] = 1; d[j] = 0; on[j] = j < w; v[j] = j < w ? a[i0 + j] : 1.0; }
        for (int m = 0; m < 50; m++) {
            double any = 0;
            for (int j = 0; j < W; j++) {
                double q = 1.0 / (3.0 * x[j] * x[j]), dx = (x[j] * x[j] * x[j] - v[j]) * q;
                if (GRAD) {  // 2/3 (1 - v/x^3) = 2 x q (x^3 - v) / x^2 = 6 q^2 x (x^3 - v)
                    double nd = 6.0 * q * q * x[j] * (x[j] * x[j] * x[j] - v[j]) * d[j] + q;
                    d[j] = on[j] != 0 ? nd : d[j];
                }
                x[j] = on[j] != 0 ? x[j] - dx : x[j];
                on[j] = std::fabs(dx) < 1e-12 ? 0.0 : on[j];
                any += on[j];
            }
            if (any == 0) break;
        }
        for (int j = 0; j < w; j++) { s += x[j]; if (GRAD) g[i0 + j] = d[j]; }
    }
    return s;
}

// --- mass_spring ------------------------------------------------------------------------------------------
// Only the positions of every step are stored; forces are linear in k and polynomial in the elongation.
static Vec chain_tape;
static double chain_rev(const Chain* c, const double* x0, const double* k, double* gx, double* gk) {
    const int n = c->n, S = c->steps;
    const double h = c->dt, be = c->beta, dm = c->damp;
    chain_tape.resize((size_t)(S + 1) * n);
    Vec v(n, 0.0), F(n + 1, 0.0), vb(n), xb(n), Fb(n + 1);
    double* X = chain_tape.data();
    for (int i = 0; i < n; i++) X[i] = x0[i];
    for (int t = 0; t < S; t++) {
        const double* __restrict x = X + (size_t)t * n;
        double* __restrict y = X + (size_t)(t + 1) * n;
        double *__restrict f = F.data(), *__restrict vv = v.data();
        for (int i = 0; i + 1 < n; i++) { double e = x[i + 1] - x[i] - 1.0; f[i + 1] = k[i] * (e + be * e * e * e); }
        for (int i = 0; i < n; i++) { vv[i] += h * (f[i + 1] - f[i] - dm * vv[i]); y[i] = x[i] + h * vv[i]; }
    }
    const double* xe = X + (size_t)S * n;
    double E = 0;
    for (int i = 0; i < n; i++) { E += 0.5 * v[i] * v[i]; vb[i] = v[i]; xb[i] = 0; }
    for (int i = 0; i + 1 < n; i++) {
        double e = xe[i + 1] - xe[i] - 1.0, e2 = e * e, p = 0.5 * e2 + 0.25 * be * e2 * e2, dp = k[i] * (e + be * e2 * e);
        E += k[i] * p;
        gk[i] = p;
        xb[i + 1] += dp;
        xb[i] -= dp;
    }
    for (int t = S - 1; t >= 0; t--) {
        const double* __restrict x = X + (size_t)t * n;
        double *__restrict V = vb.data(), *__restrict B = xb.data(), *__restrict D = Fb.data();
        for (int i = 0; i < n; i++) V[i] += h * B[i];
        // F[i+1] gets +h V[i] - h V[i+1]; then e and k
        for (int i = 0; i + 1 < n; i++) {
            double e = x[i + 1] - x[i] - 1.0, fb = h * (V[i] - V[i + 1]);
            gk[i] += fb * (e + be * e * e * e);
            D[i + 1] = fb * k[i] * (1.0 + 3.0 * be * e * e);
        }
        for (int i = 0; i < n; i++) { B[i] += D[i] - D[i + 1]; V[i] *= 1.0 - h * dm; }
    }
    for (int i = 0; i < n; i++) gx[i] = xb[i];
    return E;
}

// --- ode_rk4 ----------------------------------------------------------------------------------------------
static Vec lv_tape;
static double lv_rev(const Ode* o, const double* p, double* g) {
    const int S = o->steps;
    const double h = o->dt, A = p[0], B = p[1], G = p[2], D = p[3];
    lv_tape.resize(2 * (size_t)S);
    double x = p[4], y = p[5];
    auto step = [&](double& x, double& y) {
        double a1 = A * x - B * x * y, b1 = D * x * y - G * y;
        double x2 = x + 0.5 * h * a1, y2 = y + 0.5 * h * b1, a2 = A * x2 - B * x2 * y2, b2 = D * x2 * y2 - G * y2;
        double x3 = x + 0.5 * h * a2, y3 = y + 0.5 * h * b2, a3 = A * x3 - B * x3 * y3, b3 = D * x3 * y3 - G * y3;
        double x4 = x + h * a3, y4 = y + h * b3, a4 = A * x4 - B * x4 * y4, b4 = D * x4 * y4 - G * y4;
        x += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        y += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4);
    };
    for (int t = 0; t < S; t++) { lv_tape[2 * t] = x; lv_tape[2 * t + 1] = y; step(x, y); }
    double val = x + 2 * y, xb = 1, yb = 2, ga = 0, gb = 0, gg = 0, gd = 0;
    for (int t = S - 1; t >= 0; t--) {
        double x1 = lv_tape[2 * t], y1 = lv_tape[2 * t + 1];
        double a1 = A * x1 - B * x1 * y1, b1 = D * x1 * y1 - G * y1;
        double x2 = x1 + 0.5 * h * a1, y2 = y1 + 0.5 * h * b1, a2 = A * x2 - B * x2 * y2, b2 = D * x2 * y2 - G * y2;
        double x3 = x1 + 0.5 * h * a2, y3 = y1 + 0.5 * h * b2, a3 = A * x3 - B * x3 * y3, b3 = D * x3 * y3 - G * y3;
        double x4 = x1 + h * a3, y4 = y1 + h * b3;
        auto pull = [&](double x, double y, double ab, double bb, double& ux, double& uy) {
            double xy = x * y;
            ga += ab * x; gb -= ab * xy; gd += bb * xy; gg -= bb * y;
            ux = ab * (A - B * y) + bb * D * y;
            uy = -ab * B * x + bb * (D * x - G);
        };
        double sx = xb, sy = yb, ux, uy;
        pull(x4, y4, h / 6 * sx, h / 6 * sy, ux, uy); xb += ux; yb += uy;
        pull(x3, y3, h / 3 * sx + h * ux, h / 3 * sy + h * uy, ux, uy); xb += ux; yb += uy;
        pull(x2, y2, h / 3 * sx + 0.5 * h * ux, h / 3 * sy + 0.5 * h * uy, ux, uy); xb += ux; yb += uy;
        pull(x1, y1, h / 6 * sx + 0.5 * h * ux, h / 6 * sy + 0.5 * h * uy, ux, uy); xb += ux; yb += uy;
    }
    g[0] = ga; g[1] = gb; g[2] = gg; g[3] = gd; g[4] = xb; g[5] = yb;
    return val;
}
typedef double V8 __attribute__((vector_size(64)));
static double lv_fwd(const Ode* o, const double* p, double* g) {  // the six tangents ride in one 8-lane vector
    const double h = o->dt, A = p[0], B = p[1], G = p[2], D = p[3];
    double x = p[4], y = p[5];
    const V8 eA = {1}, eB = {0, 1}, eG = {0, 0, 1}, eD = {0, 0, 0, 1};
    V8 dx = {0, 0, 0, 0, 1}, dy = {0, 0, 0, 0, 0, 1};
    auto f = [&](double x, double y, const V8& dx, const V8& dy, double& a, double& b, V8& da, V8& db) {
        double xy = x * y;
        a = A * x - B * xy;
        b = D * xy - G * y;
        da = dx * (A - B * y) - dy * (B * x) + eA * x - eB * xy;
        db = dx * (D * y) + dy * (D * x - G) + eD * xy - eG * y;
    };
    for (int t = 0; t < o->steps; t++) {
        double a1, b1, a2, b2, a3, b3, a4, b4;
        V8 A1, B1, A2, B2, A3, B3, A4, B4;
        f(x, y, dx, dy, a1, b1, A1, B1);
        f(x + 0.5 * h * a1, y + 0.5 * h * b1, dx + 0.5 * h * A1, dy + 0.5 * h * B1, a2, b2, A2, B2);
        f(x + 0.5 * h * a2, y + 0.5 * h * b2, dx + 0.5 * h * A2, dy + 0.5 * h * B2, a3, b3, A3, B3);
        f(x + h * a3, y + h * b3, dx + h * A3, dy + h * B3, a4, b4, A4, B4);
        x += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        y += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4);
        dx += h / 6 * (A1 + 2 * A2 + 2 * A3 + A4);
        dy += h / 6 * (B1 + 2 * B2 + 2 * B3 + B4);
    }
    for (int i = 0; i < 6; i++) g[i] = dx[i] + 2 * dy[i];
    return x + 2 * y;
}

int main(int argc, char** argv) {
    if (argc < 8) return 2;
    std::string peer = argv[1], obj = argv[2], name = argv[3], out = argv[6];
    double budget = std::atof(argv[7]), val = 0;
    bool fwd = peer.find("fwd") != std::string::npos, simd = peer.find("simd") != std::string::npos;
    Vec g;
    // Value and gradient at the input as it is, then the times.
    auto run = [&](std::vector<Vec*> inputs, const std::function<double()>& objective, const std::function<double()>& gradient) {
        val = gradient();
        dump(out, g.data(), g.size());
        Nudge nudge{inputs};
        double last = 0;
        Stats o = measure([&] { sink = objective(); }, [&] { nudge(sink); }, budget);
        Stats s = measure([&] { last = gradient(); }, [&] { nudge(last + g[nudge.turn % g.size()]); }, budget);
        print_json(peer, obj, name, o, s, val, nudge.checksum);
    };
    if (obj == "newton") {
        const int n = 100000;
        Vec a(n);
        g.resize(n);
        for (int i = 0; i < n; i++) a[i] = 0.5 + 7.5 * std::fmod(i * 0.6180339887498949, 1.0);
        run({&a}, [&] { return simd ? newton_simd<false>(n, a.data(), nullptr) : newton_value(n, a.data()); },
            [&] { return simd ? newton_simd<true>(n, a.data(), g.data()) : fwd ? newton_fwd(n, a.data(), g.data()) : newton_rev(n, a.data(), g.data()); });
    } else if (obj == "mass_spring") {
        if (fwd || simd) return 3;
        Chain c{256, 1000, 0.01, 0.5, 0.05};
        Vec x(256), k(255);
        g.resize(511);
        for (int i = 0; i < 256; i++) x[i] = i + 0.1 * std::sin(0.3 * i);
        for (int i = 0; i < 255; i++) k[i] = 10 + std::sin(0.1 * i);
        run({&x, &k}, [&] { return chain_value(&c, x.data(), k.data()); },
            [&] { return chain_rev(&c, x.data(), k.data(), g.data(), g.data() + 256); });
    } else if (obj == "ode_rk4") {
        if (simd) return 3;
        Ode od{10000, 0.001};
        Vec p{1.5, 1.0, 3.0, 1.0, 1.0, 1.0};
        g.resize(6);
        run({&p}, [&] { return lv_value(&od, p.data()); },
            [&] { return fwd ? lv_fwd(&od, p.data(), g.data()) : lv_rev(&od, p.data(), g.data()); });
    } else
        return 2;
}
