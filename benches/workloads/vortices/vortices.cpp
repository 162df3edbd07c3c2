// Vortices as arrays of coordinates: the loop over all others is a vector loop, with one quotient a pair.
#include "../serve.hpp"

struct Vortices {
    const Arguments& in;
    size_t n, steps;
    Vec x, y, mx, my, u, v, xb, yb, ub, vb, sb, mxb, myb;

    explicit Vortices(const Arguments& in)
        : in(in), n(in.dim("strength", 0)), steps(in.size("steps")), x((steps + 1) * n), y(x), mx(steps * n), my(mx), u(n), v(n),
          xb(n), yb(n), ub(n), vb(n), sb(n), mxb(n), myb(n) {}
    size_t entries() const { return 3 * n; }

    void velocity(const double* __restrict x, const double* __restrict y) {
        const double* __restrict s = in.f64("strength");
        const double c = in.number("core") * in.number("core");
        for (size_t i = 0; i < n; i++) {
            double a = 0, b = 0;
            for (size_t j = 0; j < n; j++) {
                const double dx = x[i] - x[j], dy = y[i] - y[j], w = s[j] / (dx * dx + dy * dy + c);
                a -= w * dy, b += w * dx;
            }
            u[i] = a, v[i] = b;
        }
    }
    // Adds to the adjoints of places and strengths what the velocities' adjoints ub and vb give.
    void back(const double* __restrict x, const double* __restrict y, double* __restrict xb, double* __restrict yb) {
        const double* __restrict s = in.f64("strength");
        double* __restrict sb = this->sb.data();
        const double c = in.number("core") * in.number("core");
        for (size_t i = 0; i < n; i++) {
            double a = 0, b = 0;
            const double p = ub[i], q = vb[i];
            for (size_t j = 0; j < n; j++) {
                const double dx = x[i] - x[j], dy = y[i] - y[j], over = 1 / (dx * dx + dy * dy + c), w = s[j] * over;
                const double cross = q * dx - p * dy, r = -2 * cross * w * over;
                const double fx = q * w + r * dx, fy = r * dy - p * w;
                sb[j] += cross * over;
                a += fx, b += fy;
                xb[j] -= fx, yb[j] -= fy;
            }
            xb[i] += a, yb[i] += b;
        }
    }
    double value() {
        const double *start = in.f64("start"), *target = in.f64("target"), dt = in.number("dt");
        for (size_t i = 0; i < n; i++) x[i] = start[2 * i], y[i] = start[2 * i + 1];
        for (size_t t = 0; t < steps; t++) {
            double *p = &x[t * n], *q = &y[t * n], *a = &mx[t * n], *b = &my[t * n];
            velocity(p, q);
            for (size_t i = 0; i < n; i++) a[i] = p[i] + 0.5 * dt * u[i], b[i] = q[i] + 0.5 * dt * v[i];
            velocity(a, b);
            for (size_t i = 0; i < n; i++) p[n + i] = p[i] + dt * u[i], q[n + i] = q[i] + dt * v[i];
        }
        double sum = 0;
        const double *p = &x[steps * n], *q = &y[steps * n];
        for (size_t i = 0; i < n; i++) {
            const double e = p[i] - target[2 * i], f = q[i] - target[2 * i + 1];
            sum += e * e + f * f;
        }
        return sum / n;
    }
    double gradient(double* out) {
        const double found = value(), dt = in.number("dt");
        const double* target = in.f64("target");
        std::fill(sb.begin(), sb.end(), 0.0);
        for (size_t i = 0; i < n; i++) {
            xb[i] = 2.0 / n * (x[steps * n + i] - target[2 * i]);
            yb[i] = 2.0 / n * (y[steps * n + i] - target[2 * i + 1]);
        }
        for (size_t t = steps; t-- > 0;) {
            for (size_t i = 0; i < n; i++) ub[i] = dt * xb[i], vb[i] = dt * yb[i], mxb[i] = myb[i] = 0;
            back(&mx[t * n], &my[t * n], mxb.data(), myb.data());
            for (size_t i = 0; i < n; i++) {
                ub[i] = 0.5 * dt * mxb[i], vb[i] = 0.5 * dt * myb[i];
                xb[i] += mxb[i], yb[i] += myb[i];
            }
            back(&x[t * n], &y[t * n], xb.data(), yb.data());
        }
        for (size_t i = 0; i < n; i++) out[2 * i] = xb[i], out[2 * i + 1] = yb[i], out[2 * n + i] = sb[i];
        return found;
    }
};

int main(int n, char** words) { return serve<Vortices>(n, words); }
