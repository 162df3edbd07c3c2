// The three loop problems, as anyone would write them.
#pragma once
#include <cmath>
#include <cstdlib>
#define INL static inline

INL double newton_one(double a) {
    double x = 1.0;
    for (int it = 0; it < 50; it++) {
        double dx = (x * x * x - a) / (3.0 * x * x);
        x -= dx;
        if (std::fabs(dx) < 1e-12) break;
    }
    return x;
}
INL double newton_value(int n, const double* a) {
    double s = 0;
    for (int i = 0; i < n; i++) s += newton_one(a[i]);
    return s;
}

struct Chain { int n, steps; double dt, beta, damp; };

INL double chain_value(const Chain* c, const double* __restrict x0, const double* __restrict k) {
    const int n = c->n;
    double* x = (double*)malloc(sizeof(double) * n);
    double* v = (double*)malloc(sizeof(double) * n);
    double* F = (double*)malloc(sizeof(double) * (n + 1));
    for (int i = 0; i < n; i++) { x[i] = x0[i]; v[i] = 0; }
    F[0] = 0; F[n] = 0;
    for (int t = 0; t < c->steps; t++) {
        for (int i = 0; i + 1 < n; i++) {
            double e = x[i + 1] - x[i] - 1.0;
            F[i + 1] = k[i] * (e + c->beta * e * e * e);
        }
        for (int i = 0; i < n; i++) {
            v[i] += c->dt * (F[i + 1] - F[i] - c->damp * v[i]);
            x[i] += c->dt * v[i];
        }
    }
    double E = 0;
    for (int i = 0; i < n; i++) E += 0.5 * v[i] * v[i];
    for (int i = 0; i + 1 < n; i++) {
        double e = x[i + 1] - x[i] - 1.0;
        E += k[i] * (0.5 * e * e + 0.25 * c->beta * e * e * e * e);
    }
    free(x); free(v); free(F);
    return E;
}

struct Ode { int steps; double dt; };
// p = alpha, beta, gamma, delta, x0, y0
INL double lv_value(const Ode* o, const double* p) {
    double x = p[4], y = p[5], h = o->dt;
    for (int t = 0; t < o->steps; t++) {
        auto fx = [&](double x, double y) { return p[0] * x - p[1] * x * y; };
        auto fy = [&](double x, double y) { return p[3] * x * y - p[2] * y; };
        double a1 = fx(x, y), b1 = fy(x, y);
        double a2 = fx(x + 0.5 * h * a1, y + 0.5 * h * b1), b2 = fy(x + 0.5 * h * a1, y + 0.5 * h * b1);
        double a3 = fx(x + 0.5 * h * a2, y + 0.5 * h * b2), b3 = fy(x + 0.5 * h * a2, y + 0.5 * h * b2);
        double a4 = fx(x + h * a3, y + h * b3), b4 = fy(x + h * a3, y + h * b3);
        x += h / 6.0 * (a1 + 2 * a2 + 2 * a3 + a4);
        y += h / 6.0 * (b1 + 2 * b2 + 2 * b3 + b4);
    }
    return x + 2.0 * y;
}
