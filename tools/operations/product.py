"""Cases of `std.product`."""

import numpy as np
import torch

from cases import Cases

c = Cases("product", 105)
c.uses(torch)
n = c.normal

for shape in ((3, 4), (2, 1), (2, 0), (0, 3)):
    a, b = n(*shape), n(*shape)
    c.add("inner", dict(a=a, b=b), (a * b).sum(-1), "numpy.sum")
a, b = n(5), n(5)
c.add("inner__rank1", dict(a=a, b=b), a @ b, "numpy.matmul")
for a, b in ((n(3), n(4)), (n(1), n(2)), (n(0), n(2))):
    c.add("outer", dict(a=a, b=b), np.outer(a, b), "numpy.outer")
a, b = n(2, 3), n(2, 4)
c.add("outer__batched", dict(a=a, b=b), a[:, :, None] * b[:, None, :], "numpy.einsum ai,aj->aij")
for shape in ((3, 2, 2), (1, 2, 3), (0, 2, 1)):
    a, b = n(*shape), n(*shape)
    c.add("dot_first", dict(a=a, b=b), np.einsum("nij,nij->ij", a, b), "numpy.einsum nij,nij->ij")
for p, q in (((2, 3), (2, 2)), ((1, 1), (3, 2)), ((2, 0), (2, 2))):
    a, b = n(*p), n(*q)
    c.add("kron", dict(a=a, b=b), np.kron(a, b), "numpy.kron")
a, b = n(2, 3), n(2, 3)
c.add("cross", dict(a=a, b=b), np.cross(a, b), "numpy.cross")
for s, m, k, q in ((2, 3, 4, 2), (1, 1, 1, 1), (2, 3, 0, 2), (0, 2, 2, 2), (1, 17, 9, 13)):
    a, b = n(s, m, k), n(s, k, q)
    t = lambda x: x.swapaxes(-1, -2)
    for name, p, r in (("matmul", a, b), ("matmul_tn", t(a), b), ("matmul_nt", a, t(b)), ("matmul_tt", t(a), t(b))):
        c.add(name, dict(a=p, b=r), a @ b, "numpy.matmul")
    x = n(s, k)
    c.add("matvec", dict(a=a, x=x), np.einsum("amk,ak->am", a, x), "numpy.einsum amk,ak->am")
a, b = n(2, 2, 3, 4), n(2, 2, 4, 1)
c.add("matmul__rank4", dict(a=a, b=b), a @ b, "numpy.matmul")
for shape in ((2, 3, 4), (0, 2, 4)):
    x, w, b = n(*shape), n(5, 4), n(5)
    c.add("linear", dict(x=x, w=w, bias=b), x @ w.T + b, "torch.nn.functional.linear, by numpy.matmul")
x, w, y, b = n(3, 4), n(2, 4, 5), n(3, 5), n(2)
c.add("bilinear", dict(x=x, w=w, y=y, bias=b), torch.nn.functional.bilinear(*map(torch.tensor, (x, y, w, b))),
      "torch.nn.functional.bilinear")
x, w, g = n(6, 3), n(4, 3, 2), c.integers(0, 4, 6)
c.add("grouped", dict(x=x, w=w, group=g), np.einsum("nk,nkm->nm", x, w[g]), "numpy.einsum nk,nkm->nm")
c.fails("grouped", dict(x=x, w=w, group=np.full(6, 4)), "R0001", "no such group")
for sizes in ((2, 0, 3, 1), (1, 1, 1, 1), (0, 0, 0, 0), (6, 0, 0, 0)):
    of = np.repeat(np.arange(4), sizes)
    y = np.zeros((6, 2))
    y[:len(of)] = np.einsum("nk,nkm->nm", x[:len(of)], w[of])
    c.add("ragged", dict(x=x, w=w, sizes=np.array(sizes)), y, "jax.lax.ragged_dot, by numpy.einsum")
c.fails("ragged", dict(x=x, w=w, sizes=np.array([3, 3, 1, 0])), "R0002", "more rows than there are")
x, w, a, b = n(3, 4), n(4, 5), n(4, 2), n(2, 5)
for scale in (0.0, 0.5):
    c.add("lora", dict(x=x, w=w, a=a, b=b, scale=scale), x @ w + scale * (x @ a) @ b, "numpy.matmul")
c.write()
