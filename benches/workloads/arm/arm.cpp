// Poses side by side. All links move the end by the same cotangent; that of a turn comes back through the chain.
#include "../lanes.hpp"
#include "../serve.hpp"

struct Arm {
    struct Joint { Lanes s, c, before[3][3], after[3][3]; };
    const Arguments& in;
    size_t poses, joints;

    explicit Arm(const Arguments& in) : in(in), poses(in.dim("angle", 0)), joints(in.dim("angle", 1)) {}
    size_t entries() const { return 6 * joints; }

    static void matrix(const double* u, Lanes s, Lanes c, Lanes m[3][3]) {
        const Lanes d = 1 - c;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) m[i][j] = d * (u[i] * u[j]);
        m[0][0] += c, m[0][1] -= s * u[2], m[0][2] += s * u[1];
        m[1][0] += s * u[2], m[1][1] += c, m[1][2] -= s * u[0];
        m[2][0] -= s * u[1], m[2][1] += s * u[0], m[2][2] += c;
    }

    template <bool GRADIENT> double run(double* out) {
        const double *axis = in.f64("axis"), *link = in.f64("link"), *angle = in.f64("angle"), *end = in.f64("end");
        Vec unit(3 * joints), size(joints);
        for (size_t j = 0; j < joints; j++) {
            const double* a = axis + 3 * j;
            size[j] = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            for (int i = 0; i < 3; i++) unit[3 * j + i] = a[i] / size[j];
        }
        std::vector<Joint> kept(joints);
        std::vector<Lanes> unitb(3 * joints), linkb(3 * joints);
        double total = 0;
        for (size_t n = 0; n < poses; n += LANES) {
            const size_t live = std::min(LANES, poses - n);
            const Lanes weight = first(live);
            Lanes p[3] = {}, r[3][3] = {};
            for (int i = 0; i < 3; i++) r[i][i] = all(1);
            for (size_t j = 0; j < joints; j++) {
                Joint& o = kept[j];
                Lanes m[3][3], next[3][3];
                sine_cosine(gather(angle + n * joints + j, joints, live), o.s, o.c);
                matrix(&unit[3 * j], o.s, o.c, m);
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++) next[i][k] = r[i][0] * m[0][k] + r[i][1] * m[1][k] + r[i][2] * m[2][k];
                for (int i = 0; i < 3; i++) {
                    p[i] += next[i][0] * link[3 * j] + next[i][1] * link[3 * j + 1] + next[i][2] * link[3 * j + 2];
                    for (int k = 0; k < 3; k++) {
                        if (GRADIENT) o.before[i][k] = r[i][k], o.after[i][k] = next[i][k];
                        r[i][k] = next[i][k];
                    }
                }
            }
            Lanes pb[3];
            for (int i = 0; i < 3; i++) {
                const Lanes e = p[i] - gather(end + 3 * n + i, 3, live);
                total += sum(weight * e * e);
                pb[i] = weight * e * (2.0 / poses);
            }
            if (!GRADIENT) continue;
            Lanes rb[3][3] = {};
            for (size_t j = joints; j-- > 0;) {
                const Joint& o = kept[j];
                const double* u = &unit[3 * j];
                Lanes m[3][3], mb[3][3], back[3][3];
                for (int i = 0; i < 3; i++) {
                    linkb[3 * j + i] += o.after[0][i] * pb[0] + o.after[1][i] * pb[1] + o.after[2][i] * pb[2];
                    for (int k = 0; k < 3; k++) rb[i][k] += pb[i] * link[3 * j + k];
                }
                matrix(u, o.s, o.c, m);
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++) {
                        mb[i][k] = o.before[0][i] * rb[0][k] + o.before[1][i] * rb[1][k] + o.before[2][i] * rb[2][k];
                        back[i][k] = rb[i][0] * m[k][0] + rb[i][1] * m[k][1] + rb[i][2] * m[k][2];
                    }
                const Lanes d = 1 - o.c;
                for (int i = 0; i < 3; i++) {
                    Lanes g = {};
                    for (int k = 0; k < 3; k++) g += (mb[i][k] + mb[k][i]) * u[k];
                    unitb[3 * j + i] += d * g;
                }
                unitb[3 * j] += o.s * (mb[2][1] - mb[1][2]);
                unitb[3 * j + 1] += o.s * (mb[0][2] - mb[2][0]);
                unitb[3 * j + 2] += o.s * (mb[1][0] - mb[0][1]);
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++) rb[i][k] = back[i][k];
            }
        }
        if (GRADIENT)
            for (size_t j = 0; j < joints; j++) {
                double g[3], along = 0;
                for (int i = 0; i < 3; i++) g[i] = sum(unitb[3 * j + i]), along += g[i] * unit[3 * j + i];
                for (int i = 0; i < 3; i++) {
                    out[3 * j + i] = (g[i] - along * unit[3 * j + i]) / size[j];
                    out[3 * (joints + j) + i] = sum(linkb[3 * j + i]);
                }
            }
        return total / poses;
    }
    double value() { return run<false>(nullptr); }
    double gradient(double* out) { return run<true>(out); }
};

int main(int n, char** words) { return serve<Arm>(n, words); }
