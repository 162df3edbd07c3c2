// A quaternion through all steps; each step's quaternion and the reciprocal of its length are kept. What depends on a step
// alone is outside of both recurrences: turns before the first, errors between them, derivatives after the second.
#include "../serve.hpp"

struct Gyroscope {
    struct Turn { double a, b, c; };
    struct Quaternion { double w, x, y, z; };
    const Arguments& in;
    size_t n;
    std::vector<Turn> turns, turnb;
    std::vector<Quaternion> at, error;
    Vec over;

    explicit Gyroscope(const Arguments& in) : in(in), n(in.dim("turn", 0)), turns(n), turnb(n), at(n + 1), error(n), over(n) {}
    size_t entries() const { return 6; }

    template <bool GRADIENT> double run() {
        const double *scale = in.f64("scale"), *bias = in.f64("bias"), *turn = in.f64("turn"), *gravity = in.f64("gravity");
        const double half = 0.5 * in.number("dt");
        for (size_t t = 0; t < n; t++) {
            turns[t].a = half * (scale[0] * turn[3 * t] - bias[0]);
            turns[t].b = half * (scale[1] * turn[3 * t + 1] - bias[1]);
            turns[t].c = half * (scale[2] * turn[3 * t + 2] - bias[2]);
        }
        Quaternion o = at[0] = {1, 0, 0, 0};
        for (size_t t = 0; t < n; t++) {
            const auto [a, b, c] = turns[t];
            const double p = o.w - o.x * a - o.y * b - o.z * c, q = o.x + o.w * a + o.y * c - o.z * b;
            const double r = o.y + o.w * b - o.x * c + o.z * a, s = o.z + o.w * c + o.x * b - o.y * a;
            const double inverse = over[t] = 1 / std::sqrt(p * p + q * q + r * r + s * s);
            o = at[t + 1] = {p * inverse, q * inverse, r * inverse, s * inverse};
        }
        double loss = 0;
        for (size_t t = 0; t < n; t++) {
            const auto [w, x, y, z] = at[t + 1];
            const double u = 2 * (x * z - w * y) - gravity[3 * t], v = 2 * (y * z + w * x) - gravity[3 * t + 1];
            const double h = w * w - x * x - y * y + z * z - gravity[3 * t + 2];
            loss += u * u + v * v + h * h;
            if (GRADIENT)
                error[t] = {4 * (v * x - u * y + h * w), 4 * (u * z + v * w - h * x), 4 * (v * z - u * w - h * y), 4 * (u * x + v * y + h * z)};
        }
        return loss;
    }
    double value() { return run<false>(); }

    double gradient(double* out) {
        const double loss = run<true>();
        const double *turn = in.f64("turn"), half = 0.5 * in.number("dt");
        Quaternion g = {0, 0, 0, 0};
        for (size_t t = n; t-- > 0;) {
            const Quaternion &o = at[t], &e = at[t + 1], &d = error[t];
            const auto [a, b, c] = turns[t];
            g.w += d.w, g.x += d.x, g.y += d.y, g.z += d.z;
            // Of length one: what lies along the quaternion is taken away.
            const double along = g.w * e.w + g.x * e.x + g.y * e.y + g.z * e.z;
            const double p = (g.w - along * e.w) * over[t], q = (g.x - along * e.x) * over[t];
            const double r = (g.y - along * e.y) * over[t], s = (g.z - along * e.z) * over[t];
            turnb[t] = {q * o.w - p * o.x + r * o.z - s * o.y, r * o.w - p * o.y - q * o.z + s * o.x, s * o.w - p * o.z + q * o.y - r * o.x};
            g = {p + q * a + r * b + s * c, q - p * a - r * c + s * b, r - p * b + q * c - s * a, s - p * c - q * b + r * a};
        }
        std::fill(out, out + 6, 0.0);
        for (size_t t = 0; t < n; t++) {
            const auto [a, b, c] = turnb[t];
            out[0] += half * a * turn[3 * t], out[1] += half * b * turn[3 * t + 1], out[2] += half * c * turn[3 * t + 2];
            out[3] -= half * a, out[4] -= half * b, out[5] -= half * c;
        }
        return loss;
    }
};

int main(int n, char** words) { return serve<Gyroscope>(n, words); }
