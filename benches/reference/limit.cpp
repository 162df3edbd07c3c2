// Hand-written value+gradient of GMM, LSTM and BA, laid out for SIMD: near-limit references, not a peer.
//   limit PEER gmm|lstm|ba NAME FILE - OUT.bin BUDGET
// The peer `layout-inside` has the points of GMM laid out in every call, as a function of row-major points must.
// Same mathematics and operation count as the scalar programs (no algebraic rewriting of the GMM quadratic form,
// apart from pulling sums over points through the linear map L, as a hand adjoint would).
#include <cmath>
#include <cstring>
#include "readers.hpp"
#include "timing.h"

// ---------------------------------------------------------------- GMM: lanes are points, P of them a block
static const int P = 64;
struct GmmLimit {
    GmmIn g; bool inside; double cst; Vec L, xt, y, term, w, S, s1, m0;
    std::vector<Vec*> inputs() { return {&g.alpha, &g.mu, &g.icf}; }
    GmmLimit(const GmmIn& in, bool inside) : g(in), inside(inside) {
        int d = g.d, k = g.k, n = g.n;
        double nu = d + g.m + 1, lg = 0.25 * d * (d - 1) * std::log(M_PI);
        for (int j = 1; j <= d; j++) lg += std::lgamma(0.5 * nu + 0.5 * (1 - j));
        cst = -n * d * 0.5 * std::log(2 * M_PI) - k * (nu * d * (std::log(g.gamma) - 0.5 * std::log(2.0)) - lg);
        L.resize((size_t)k * d * d);
        int nb = (n + P - 1) / P;
        xt.assign((size_t)nb * d * P, 0.0);
        lay_out();
        y.resize((size_t)k * d * P); term.resize((size_t)k * P); w.resize((size_t)k * P);
        S.resize((size_t)k * d * d); s1.resize((size_t)k * d); m0.resize(k);
    }
    void lay_out() {  // d x P blocks of transposed points
        for (int p = 0; p < g.n; p++)
            for (int i = 0; i < g.d; i++) xt[((size_t)(p / P) * g.d + i) * P + p % P] = g.x[(size_t)p * g.d + i];
    }
    template <bool GRAD> double run(double* gr) {
        if (inside) lay_out();
        const int d = g.d, k = g.k, n = g.n, sz = d * (d + 1) / 2;
        double total = 0, prior = 0;
        Vec sq(k);
        for (int c = 0; c < k; c++) {
            const double* q = &g.icf[(size_t)c * sz];
            double* l = &L[(size_t)c * d * d];
            double s = 0, fro = 0;
            const double* low = q + d;
            for (int j = 0; j < d; j++) {
                s += q[j];
                double e = std::exp(q[j]);
                l[j * d + j] = e;
                fro += e * e;
                for (int i = j + 1; i < d; i++) { double v = *low++; l[i * d + j] = v; fro += v * v; }
            }
            sq[c] = s;
            prior += 0.5 * g.gamma * g.gamma * fro - g.m * s;
        }
        if (GRAD) { std::fill(S.begin(), S.end(), 0.0); std::fill(s1.begin(), s1.end(), 0.0); std::fill(m0.begin(), m0.end(), 0.0); }
        std::vector<double> xc((size_t)d * P), wx(P), lse(P), mx(P);
        for (int b0 = 0; b0 < n; b0 += P) {
            const double* X = &xt[(size_t)(b0 / P) * d * P];
            const int live = n - b0 < P ? n - b0 : P;
            for (int c = 0; c < k; c++) {
                const double *l = &L[(size_t)c * d * d], *mu = &g.mu[(size_t)c * d];
                double* __restrict t = &term[(size_t)c * P];
                for (int i = 0; i < d; i++)
                    for (int p = 0; p < P; p++) xc[(size_t)i * P + p] = X[(size_t)i * P + p] - mu[i];
                for (int p = 0; p < P; p++) t[p] = 0;
                int i = 0;
                for (; i + 1 < d; i += 2) {  // two rows at once: every xc load feeds two multiply-adds
                    double a[P], e[P];
                    const double l0 = l[i * d + i], l1 = l[(i + 1) * d + i], l2 = l[(i + 1) * d + i + 1];
                    const double *x0 = &xc[(size_t)i * P], *x1 = x0 + P;
                    for (int p = 0; p < P; p++) { a[p] = l0 * x0[p]; e[p] = l1 * x0[p] + l2 * x1[p]; }
                    for (int j = 0; j < i; j++) {
                        const double u = l[i * d + j], v = l[(i + 1) * d + j];
                        const double* xj = &xc[(size_t)j * P];
                        for (int p = 0; p < P; p++) { a[p] += u * xj[p]; e[p] += v * xj[p]; }
                    }
                    if (GRAD) std::memcpy(&y[((size_t)c * d + i) * P], a, sizeof a), std::memcpy(&y[((size_t)c * d + i + 1) * P], e, sizeof e);
                    for (int p = 0; p < P; p++) t[p] += a[p] * a[p] + e[p] * e[p];
                }
                if (i < d) {
                    double a[P];
                    for (int p = 0; p < P; p++) a[p] = l[i * d + i] * xc[(size_t)i * P + p];
                    for (int j = 0; j < i; j++)
                        for (int p = 0; p < P; p++) a[p] += l[i * d + j] * xc[(size_t)j * P + p];
                    if (GRAD) std::memcpy(&y[((size_t)c * d + i) * P], a, sizeof a);
                    for (int p = 0; p < P; p++) t[p] += a[p] * a[p];
                }
                const double base = g.alpha[c] + sq[c];
                for (int p = 0; p < P; p++) t[p] = base - 0.5 * t[p];
            }
            for (int p = 0; p < P; p++) mx[p] = term[p];
            for (int c = 1; c < k; c++)
                for (int p = 0; p < P; p++) mx[p] = term[(size_t)c * P + p] > mx[p] ? term[(size_t)c * P + p] : mx[p];
            for (int p = 0; p < P; p++) lse[p] = 0;
            for (int c = 0; c < k; c++)
                for (int p = 0; p < P; p++) { double e = std::exp(term[(size_t)c * P + p] - mx[p]); w[(size_t)c * P + p] = e; lse[p] += e; }
            for (int p = 0; p < live; p++) total += std::log(lse[p]) + mx[p];
            if (!GRAD) continue;
            for (int p = 0; p < P; p++) lse[p] = p < live ? 1.0 / lse[p] : 0.0;
            for (int c = 0; c < k; c++) {
                const double* mu = &g.mu[(size_t)c * d];
                double *ww = &w[(size_t)c * P], *Sc = &S[(size_t)c * d * d], s = 0;
                for (int p = 0; p < P; p++) { ww[p] *= lse[p]; s += ww[p]; }
                m0[c] += s;
                for (int i = 0; i < d; i++)
                    for (int p = 0; p < P; p++) xc[(size_t)i * P + p] = X[(size_t)i * P + p] - mu[i];
                for (int i = 0; i < d; i++) {  // sum_p w y_i and sum_p w y_i xc_j
                    const double* yi = &y[((size_t)c * d + i) * P];
                    double t = 0;
                    for (int p = 0; p < P; p++) { wx[p] = ww[p] * yi[p]; t += wx[p]; }
                    s1[(size_t)c * d + i] += t;
                    int j = 0;
                    for (; j + 3 <= i; j += 4) {
                        double a0 = 0, a1 = 0, a2 = 0, a3 = 0;
                        const double* xj = &xc[(size_t)j * P];
                        for (int p = 0; p < P; p++) { a0 += wx[p] * xj[p]; a1 += wx[p] * xj[P + p]; a2 += wx[p] * xj[2 * P + p]; a3 += wx[p] * xj[3 * P + p]; }
                        double* o = Sc + (size_t)i * d + j;
                        o[0] += a0; o[1] += a1; o[2] += a2; o[3] += a3;
                    }
                    for (; j <= i; j++) {
                        double a = 0;
                        for (int p = 0; p < P; p++) a += wx[p] * xc[(size_t)j * P + p];
                        Sc[(size_t)i * d + j] += a;
                    }
                }
            }
        }
        double am = g.alpha[0], as = 0;
        for (int c = 1; c < k; c++) am = std::max(am, g.alpha[c]);
        for (int c = 0; c < k; c++) as += std::exp(g.alpha[c] - am);
        if (GRAD) {
            double *ga = gr, *gm = gr + k, *gi = gm + (size_t)k * d;
            const double g2 = g.gamma * g.gamma;
            for (int c = 0; c < k; c++) {
                const double *l = &L[(size_t)c * d * d], *Sc = &S[(size_t)c * d * d], *s = &s1[(size_t)c * d];
                ga[c] = m0[c] - n * std::exp(g.alpha[c] - am) / as;
                for (int j = 0; j < d; j++) {
                    double t = 0;
                    for (int i = j; i < d; i++) t += l[i * d + j] * s[i];
                    gm[(size_t)c * d + j] = t;
                }
                double *q = gi + (size_t)c * sz, *low = q + d;
                for (int j = 0; j < d; j++) {
                    double e = l[j * d + j];
                    q[j] = m0[c] - Sc[j * d + j] * e + g2 * e * e - g.m;
                    for (int i = j + 1; i < d; i++) *low++ = g2 * l[i * d + j] - Sc[(size_t)i * d + j];
                }
            }
        }
        return total - n * (std::log(as) + am) + prior + cst;
    }
};

// ---------------------------------------------------------------- LSTM: lanes are the b cells, padded to 16
static const int B = 16;
struct LstmLimit {
    LstmIn q; Vec W, seq, tape, st0;
    std::vector<Vec*> inputs() { return {&W, &seq}; }
    LstmLimit(const LstmIn& in) : q(in) {
        if (q.b > B) std::exit(3);
        int l = q.l, b = q.b, c = q.c;
        W.assign((size_t)(8 * l + 3) * B, 0.0);
        for (int r = 0; r < 8 * l; r++) for (int i = 0; i < b; i++) W[r * B + i] = q.mp[r * b + i];
        for (int r = 0; r < 3; r++) for (int i = 0; i < b; i++) W[(8 * l + r) * B + i] = q.ep[r * b + i];
        seq.assign((size_t)c * B, 0.0);
        for (int t = 0; t < c; t++) for (int i = 0; i < b; i++) seq[(size_t)t * B + i] = q.seq[(size_t)t * b + i];
        st0.assign((size_t)2 * l * B, 0.0);
        for (int r = 0; r < 2 * l; r++) for (int i = 0; i < b; i++) st0[r * B + i] = q.state[r * b + i];
        tape.resize((size_t)c * (l * 7 + 2) * B);
    }
    // tape per step and layer: y_in, h_in, c_in, f, g, o, z(=tanh change); per step: y_top, exp(out)
    template <bool GRAD> double run(double* gr) {
        const int l = q.l, b = q.b, c = q.c, K = l * 7 + 2;
        Vec st(st0);
        const double* E = &W[(size_t)8 * l * B];
        double total = 0;
        for (int t = 0; t + 1 < c; t++) {
            double y[B];
            const double *x = &seq[(size_t)t * B], *gold = x + B;
            for (int i = 0; i < B; i++) y[i] = x[i] * E[i];
            for (int k = 0; k < l; k++) {
                const double* w = &W[(size_t)8 * k * B];
                double *__restrict h = &st[(size_t)2 * k * B], *__restrict ce = h + B, *__restrict T = GRAD ? &tape[((size_t)t * K + 7 * k) * B] : nullptr;
                double f[B], g[B], o[B], z[B], th[B];
                for (int i = 0; i < B; i++) f[i] = 1.0 / (1.0 + std::exp(-(y[i] * w[i] + w[4 * B + i])));
                for (int i = 0; i < B; i++) g[i] = 1.0 / (1.0 + std::exp(-(h[i] * w[B + i] + w[5 * B + i])));
                for (int i = 0; i < B; i++) o[i] = 1.0 / (1.0 + std::exp(-(y[i] * w[2 * B + i] + w[6 * B + i])));
                for (int i = 0; i < B; i++) z[i] = 1.0 - 2.0 / (1.0 + std::exp(2.0 * (h[i] * w[3 * B + i] + w[7 * B + i])));
                if (GRAD) for (int i = 0; i < B; i++) { T[i] = y[i]; T[B + i] = h[i]; T[2 * B + i] = ce[i]; T[3 * B + i] = f[i]; T[4 * B + i] = g[i]; T[5 * B + i] = o[i]; T[6 * B + i] = z[i]; }
                for (int i = 0; i < B; i++) ce[i] = ce[i] * f[i] + g[i] * z[i];
                for (int i = 0; i < B; i++) th[i] = 1.0 - 2.0 / (1.0 + std::exp(2.0 * ce[i]));
                for (int i = 0; i < B; i++) { h[i] = o[i] * th[i]; y[i] = h[i]; }
            }
            double out[B], ex[B], s = 2, a = 0, gs = 0;
            for (int i = 0; i < B; i++) out[i] = y[i] * E[B + i] + E[2 * B + i];
            for (int i = 0; i < B; i++) ex[i] = std::exp(out[i]);
            for (int i = 0; i < B; i++) ex[i] = i < b ? ex[i] : 0.0;
            for (int i = 0; i < B; i++) { s += ex[i]; a += gold[i] * out[i]; gs += gold[i]; }
            total += a - gs * std::log(s);
            if (GRAD) {
                double* T = &tape[((size_t)t * K + 7 * l) * B];
                for (int i = 0; i < B; i++) { T[i] = y[i]; T[B + i] = gold[i] - gs * ex[i] / s; }  // d total / d out
            }
        }
        const double norm = -1.0 / ((double)b * (c - 1));
        if (!GRAD) return total * norm;
        Vec G((size_t)(8 * l + 3) * B, 0.0), sb((size_t)2 * l * B, 0.0);
        double* EG = &G[(size_t)8 * l * B];
        for (int t = c - 2; t >= 0; t--) {
            const double *x = &seq[(size_t)t * B], *T1 = &tape[((size_t)t * K + 7 * l) * B];
            double yb[B];
            for (int i = 0; i < B; i++) {
                double ob = norm * T1[B + i];
                EG[B + i] += ob * T1[i];
                EG[2 * B + i] += ob;
                yb[i] = ob * E[B + i];
            }
            for (int k = l - 1; k >= 0; k--) {
                const double *w = &W[(size_t)8 * k * B], *T = &tape[((size_t)t * K + 7 * k) * B];
                double *gw = &G[(size_t)8 * k * B], *hb = &sb[(size_t)2 * k * B], *cb = hb + B;
                double th[B];
                for (int i = 0; i < B; i++) th[i] = 1.0 - 2.0 / (1.0 + std::exp(2.0 * (T[2 * B + i] * T[3 * B + i] + T[4 * B + i] * T[6 * B + i])));
                for (int i = 0; i < B; i++) {
                    const double y = T[i], h = T[B + i], ce = T[2 * B + i], f = T[3 * B + i], g = T[4 * B + i], o = T[5 * B + i], z = T[6 * B + i];
                    double hbar = hb[i] + yb[i];
                    double cbar = cb[i] + hbar * o * (1 - th[i] * th[i]);
                    double fa = cbar * ce * f * (1 - f), ga = cbar * z * g * (1 - g), oa = hbar * th[i] * o * (1 - o), za = cbar * g * (1 - z * z);
                    gw[i] += fa * y; gw[B + i] += ga * h; gw[2 * B + i] += oa * y; gw[3 * B + i] += za * h;
                    gw[4 * B + i] += fa; gw[5 * B + i] += ga; gw[6 * B + i] += oa; gw[7 * B + i] += za;
                    yb[i] = fa * w[i] + oa * w[2 * B + i];
                    hb[i] = ga * w[B + i] + za * w[3 * B + i];
                    cb[i] = cbar * f;
                }
            }
            for (int i = 0; i < B; i++) EG[i] += yb[i] * x[i];
        }
        for (int r = 0; r < 8 * l + 3; r++) for (int i = 0; i < b; i++) gr[r * b + i] = G[(size_t)r * B + i];
        return total * norm;
    }
};

// ---------------------------------------------------------------- BA: lanes are observations
struct BaLimit {
    BaIn in;
    std::vector<Vec*> inputs() { return {&in.cam, &in.X, &in.w, &in.feat}; }
    BaLimit(const BaIn& b) : in(b) {}
    template <bool GRAD> double run(double* J) {
        const int W = 16, p = in.p;
        double sum = 0;
        for (int i0 = 0; i0 < p; i0 += W) {
            double z[15][W], f0[W], f1[W], o[30][W], e0[W], e1[W];
            const int w = p - i0 < W ? p - i0 : W;
            for (int v = 0; v < W; v++) {
                const int i = i0 + (v < w ? v : 0);
                const double *c = &in.cam[11 * in.obs[2 * i]], *x = &in.X[3 * in.obs[2 * i + 1]];
                for (int k = 0; k < 11; k++) z[k][v] = c[k];
                for (int k = 0; k < 3; k++) z[11 + k][v] = x[k];
                z[14][v] = in.w[i];
                f0[v] = in.feat[2 * i];
                f1[v] = in.feat[2 * i + 1];
            }
            for (int v = 0; v < W; v++) {
                const double r0 = z[0][v], r1 = z[1][v], r2 = z[2][v];
                const double p0 = z[11][v] - z[3][v], p1 = z[12][v] - z[4][v], p2 = z[13][v] - z[5][v];
                const double th = std::sqrt(r0 * r0 + r1 * r1 + r2 * r2), ti = 1.0 / th, s = std::sin(th), c = std::cos(th), d = 1.0 - c;
                const double u0 = r0 * ti, u1 = r1 * ti, u2 = r2 * ti, up = u0 * p0 + u1 * p1 + u2 * p2;
                const double x0 = u1 * p2 - u2 * p1, x1 = u2 * p0 - u0 * p2, x2 = u0 * p1 - u1 * p0;
                const double q0 = p0 * c + x0 * s + u0 * up * d, q1 = p1 * c + x1 * s + u1 * up * d, q2 = p2 * c + x2 * s + u2 * up * d;
                const double qi = 1.0 / q2, a = q0 * qi, b = q1 * qi, rr = a * a + b * b;
                const double k1 = z[9][v], k2 = z[10][v], f = z[6][v], wt = z[14][v], L = 1.0 + k1 * rr + k2 * rr * rr;
                const double y0 = a * L * f + z[7][v] - f0[v], y1 = b * L * f + z[8][v] - f1[v];
                e0[v] = wt * y0;
                e1[v] = wt * y1;
                if (!GRAD) continue;
                const double wf = wt * f, dl = 2.0 * (k1 + 2.0 * k2 * rr);          // dL/da = dl a, dL/db = dl b
                const double aa = wf * (L + dl * a * a), ab = wf * dl * a * b, bb = wf * (L + dl * b * b);
                const double m00 = aa * qi, m01 = ab * qi, m02 = -(aa * a + ab * b) * qi;  // d residual / d q
                const double m10 = ab * qi, m11 = bb * qi, m12 = -(ab * a + bb * b) * qi;
                // rotation matrix c I + s [u]x + d u u'
                const double R[9] = {c + d * u0 * u0, d * u0 * u1 - s * u2, d * u0 * u2 + s * u1, d * u0 * u1 + s * u2, c + d * u1 * u1,
                                     d * u1 * u2 - s * u0, d * u0 * u2 - s * u1, d * u1 * u2 + s * u0, c + d * u2 * u2};
                // along the axis: A = dq/d theta; across it: du_j = (e_j - u u_j)/theta
                const double A0 = c * x0 + s * (u0 * up - p0), A1 = c * x1 + s * (u1 * up - p1), A2 = c * x2 + s * (u2 * up - p2);
                const double g0 = m00 * A0 + m01 * A1 + m02 * A2, g1 = m10 * A0 + m11 * A1 + m12 * A2;
                // residual is linear in u at fixed theta: row of d r/d u = s (p x m) + d (m up + (m.u) p)
                const double mu0 = m00 * u0 + m01 * u1 + m02 * u2, mu1 = m10 * u0 + m11 * u1 + m12 * u2;
                const double b00 = s * (p1 * m02 - p2 * m01) + d * (m00 * up + mu0 * p0), b01 = s * (p2 * m00 - p0 * m02) + d * (m01 * up + mu0 * p1),
                             b02 = s * (p0 * m01 - p1 * m00) + d * (m02 * up + mu0 * p2);
                const double b10 = s * (p1 * m12 - p2 * m11) + d * (m10 * up + mu1 * p0), b11 = s * (p2 * m10 - p0 * m12) + d * (m11 * up + mu1 * p1),
                             b12 = s * (p0 * m11 - p1 * m10) + d * (m12 * up + mu1 * p2);
                const double h0 = g0 - (b00 * u0 + b01 * u1 + b02 * u2) * ti, h1 = g1 - (b10 * u0 + b11 * u1 + b12 * u2) * ti;
                o[0][v] = b00 * ti + h0 * u0; o[1][v] = b01 * ti + h0 * u1; o[2][v] = b02 * ti + h0 * u2;
                o[15][v] = b10 * ti + h1 * u0; o[16][v] = b11 * ti + h1 * u1; o[17][v] = b12 * ti + h1 * u2;
                for (int k = 0; k < 3; k++) {
                    const double t0 = m00 * R[k] + m01 * R[3 + k] + m02 * R[6 + k], t1 = m10 * R[k] + m11 * R[3 + k] + m12 * R[6 + k];
                    o[11 + k][v] = t0; o[3 + k][v] = -t0; o[26 + k][v] = t1; o[18 + k][v] = -t1;
                }
                o[6][v] = wt * a * L; o[21][v] = wt * b * L;
                o[7][v] = wt; o[8][v] = 0; o[22][v] = 0; o[23][v] = wt;
                o[9][v] = wf * a * rr; o[24][v] = wf * b * rr;
                o[10][v] = wf * a * rr * rr; o[25][v] = wf * b * rr * rr;
                o[14][v] = y0; o[29][v] = y1;
            }
            for (int v = 0; v < w; v++) sum += e0[v] + e1[v];
            if (GRAD)
                for (int v = 0; v < w; v++)
                    for (int k = 0; k < 30; k++) J[30 * (size_t)(i0 + v) + k] = o[k][v];
        }
        if (GRAD) for (int i = 0; i < p; i++) J[30 * (size_t)p + i] = -2 * in.w[i];
        return sum;
    }
};

static volatile double sink;
template <class M> void go(M& m, size_t n, char** argv, double budget) {
    Vec gr(n);
    const double value = m.template run<true>(gr.data());
    dump(argv[6], gr.data(), n);
    Nudge nudge{m.inputs()};
    double last = 0;
    Stats o = measure([&] { sink = m.template run<false>(nullptr); }, [&] { nudge(sink); }, budget);
    Stats g = measure([&] { last = m.template run<true>(gr.data()); }, [&] { nudge(last + gr[nudge.turn % n]); }, budget);
    print_json(argv[1], argv[2], argv[3], o, g, value, nudge.checksum);
}
int main(int argc, char** argv) {
    if (argc < 8) return 2;
    double budget = std::atof(argv[7]);
    if (std::string(argv[2]) == "gmm") {
        GmmLimit m(read_gmm(argv[4]), std::string(argv[1]) == "layout-inside");
        go(m, m.g.alpha.size() + m.g.mu.size() + m.g.icf.size(), argv, budget);
    } else if (std::string(argv[2]) == "lstm") {
        LstmLimit m(read_lstm(argv[4]));
        go(m, m.q.mp.size() + m.q.ep.size(), argv, budget);
    } else if (std::string(argv[2]) == "ba") {
        BaLimit m(read_ba(argv[4]));
        go(m, (size_t)31 * m.in.p, argv, budget);
    } else
        return 2;
}
