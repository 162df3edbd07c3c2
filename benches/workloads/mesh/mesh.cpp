// Heat on triangles. What the shape of a triangle gives is computed once for all steps: the three products of its edges over
// its area. A triangle's flow is symmetric, so the adjoint has the same form.
#include "../serve.hpp"

struct Mesh {
    struct Shape { int a, b, c; double ab, bc, ca; };
    const Arguments& in;
    size_t n, triangles, steps;
    std::vector<Shape> shapes;
    Vec u, flow, cot;

    explicit Mesh(const Arguments& in)
        : in(in), n(in.dim("start", 0)), triangles(in.dim("conductivity", 0)), steps(in.size("steps")), shapes(triangles),
          u((steps + 1) * n), flow(n), cot(n) {}
    size_t entries() const { return triangles + n; }

    void look() {
        const double* p = in.f64("point");
        const int64_t* corner = in.i64("triangle");
        for (size_t e = 0; e < triangles; e++) {
            const int a = (int)corner[3 * e], b = (int)corner[3 * e + 1], c = (int)corner[3 * e + 2];
            const double ax = p[2 * c] - p[2 * b], bx = p[2 * a] - p[2 * c], cx = p[2 * b] - p[2 * a];
            const double ay = p[2 * b + 1] - p[2 * c + 1], by = p[2 * c + 1] - p[2 * a + 1], cy = p[2 * a + 1] - p[2 * b + 1];
            // Rows of the matrix of a triangle sum to zero, so three numbers say it.
            const double over = 1 / (2 * (cx * by - bx * cy));
            shapes[e] = {a, b, c, -over * (ax * bx + ay * by), -over * (bx * cx + by * cy), -over * (cx * ax + cy * ay)};
        }
    }
    double value() { return run<false>(); }
    template <bool KEEP> double run() {
        look();
        const double *k = in.f64("conductivity"), dt = in.number("dt");
        std::memcpy(u.data(), in.f64("start"), 8 * n);
        for (size_t s = 0; s < steps; s++) {
            const double* __restrict p = &u[KEEP ? s * n : 0];
            double* __restrict next = &u[KEEP ? (s + 1) * n : 0];
            double* __restrict f = flow.data();
            std::fill(flow.begin(), flow.end(), 0.0);
            for (size_t e = 0; e < triangles; e++) {
                const Shape& o = shapes[e];
                const double x = p[o.a], y = p[o.b], z = p[o.c], mean = (x + y + z) * (1.0 / 3);
                const double w = dt * k[e] * (1 + mean * mean);
                const double xy = w * o.ab * (x - y), yz = w * o.bc * (y - z), zx = w * o.ca * (z - x);
                f[o.a] += zx - xy, f[o.b] += xy - yz, f[o.c] += yz - zx;
            }
            for (size_t i = 0; i < n; i++) next[i] = p[i] + f[i];
        }
        const double* last = &u[KEEP ? steps * n : 0];
        double squares = 0;
        for (size_t i = 0; i < n; i++) squares += last[i] * last[i];
        return squares;
    }

    double gradient(double* out) {
        const double squares = run<true>();
        const double *k = in.f64("conductivity"), dt = in.number("dt");
        std::fill(out, out + triangles, 0.0);
        for (size_t i = 0; i < n; i++) cot[i] = 2 * u[steps * n + i];
        for (size_t s = steps; s-- > 0;) {
            const double *__restrict p = &u[s * n], *__restrict l = cot.data();
            double* __restrict f = flow.data();
            std::fill(flow.begin(), flow.end(), 0.0);
            for (size_t e = 0; e < triangles; e++) {
                const Shape& o = shapes[e];
                const double x = p[o.a], y = p[o.b], z = p[o.c], mean = (x + y + z) * (1.0 / 3);
                const double lx = l[o.a], ly = l[o.b], lz = l[o.c];
                const double w = dt * k[e] * (1 + mean * mean);
                const double ab = o.ab * (lx - ly), bc = o.bc * (ly - lz), ca = o.ca * (lz - lx);
                const double energy = -dt * (ab * (x - y) + bc * (y - z) + ca * (z - x));
                out[e] += energy * (1 + mean * mean);
                const double both = energy * k[e] * 2 * mean * (1.0 / 3);
                f[o.a] += w * (ca - ab) + both, f[o.b] += w * (ab - bc) + both, f[o.c] += w * (bc - ca) + both;
            }
            for (size_t i = 0; i < n; i++) cot[i] += f[i];
        }
        std::memcpy(out + triangles, cot.data(), 8 * n);
        return squares;
    }
};

int main(int n, char** words) { return serve<Mesh>(n, words); }
