// Our own readers of the ADBench text inputs.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
using Vec = std::vector<double>;

inline std::ifstream open_in(const std::string& f) {
    std::ifstream s(f);
    if (!s) { std::fprintf(stderr, "cannot open %s\n", f.c_str()); std::exit(2); }
    return s;
}
inline Vec take(std::istream& s, size_t n) { Vec v(n); for (auto& x : v) s >> x; return v; }

struct GmmIn { int d, k, n, m; double gamma; Vec alpha, mu, icf, x; };
inline GmmIn read_gmm(const std::string& f) {
    auto s = open_in(f);
    GmmIn g;
    s >> g.d >> g.k >> g.n;
    g.alpha = take(s, g.k);
    g.mu = take(s, (size_t)g.d * g.k);
    g.icf = take(s, (size_t)g.k * g.d * (g.d + 1) / 2);
    g.x = take(s, (size_t)g.d * g.n);
    s >> g.gamma >> g.m;
    return g;
}
struct BaIn { int n, m, p; Vec cam, X, w, feat; std::vector<int> obs; };
inline BaIn read_ba(const std::string& f) {  // one camera, point, weight and feature, repeated
    auto s = open_in(f);
    BaIn b;
    s >> b.n >> b.m >> b.p;
    Vec c = take(s, 11), x = take(s, 3), w = take(s, 1), q = take(s, 2);
    for (int i = 0; i < b.n; i++) b.cam.insert(b.cam.end(), c.begin(), c.end());
    for (int i = 0; i < b.m; i++) b.X.insert(b.X.end(), x.begin(), x.end());
    b.w.assign(b.p, w[0]);
    for (int i = 0; i < b.p; i++) {
        b.obs.push_back(i % b.n); b.obs.push_back(i % b.m);
        b.feat.push_back(q[0]); b.feat.push_back(q[1]);
    }
    return b;
}
struct LstmIn { int l, c, b; Vec mp, ep, state, seq; };
inline LstmIn read_lstm(const std::string& f) {
    auto s = open_in(f);
    LstmIn q;
    s >> q.l >> q.c >> q.b;
    q.mp = take(s, 8 * q.l * q.b);
    q.ep = take(s, 3 * q.b);
    q.state = take(s, 2 * q.l * q.b);
    q.seq = take(s, (size_t)q.c * q.b);
    return q;
}
