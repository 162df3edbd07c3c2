"""Cases of `std.linalg`."""

import numpy as np
import scipy
import scipy.linalg

from cases import Cases

c = Cases("linalg", 111)
c.uses(scipy)
n = c.normal


def positive(*shape):
    """Symmetric positive definite matrices."""
    a = n(*shape)
    return np.round(a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1]), 4)


def regular(*shape):
    """Matrices that are far from singular."""
    return n(*shape) + 2 * np.eye(shape[-1])


def signs(vectors):
    """What makes the entry of largest modulus of each column positive."""
    if vectors.size == 0:
        return np.ones(vectors.shape[:-2] + vectors.shape[-1:])
    at = np.abs(vectors).argmax(-2)
    return np.sign(np.take_along_axis(vectors, at[..., None, :], -2))[..., 0, :]


a = n(2, 3, 3)
c.add("symmetric", dict(a=a), (a + a.swapaxes(-1, -2)) / 2, "by definition")
for k in (0, 1, 2, 3, 5, 18):
    a = positive(k, k)
    c.add("cholesky", dict(a=a), np.linalg.cholesky(a), "numpy.linalg.cholesky")
a = n(3, 3) + positive(3, 3)
c.add("cholesky", dict(a=a), np.linalg.cholesky((a + a.T) / 2), "numpy.linalg.cholesky of the symmetric part")
for shape in ((2, 3, 3), (0, 2, 2), (3, 1, 1)):
    a = positive(*shape)
    c.add("cholesky__batched", dict(a=a), np.linalg.cholesky(a), "numpy.linalg.cholesky")
c.fails("cholesky", dict(a=np.array([[1.0, 2.0], [2.0, 1.0]])), "R0014", "a negative eigenvalue")
c.fails("cholesky", dict(a=np.zeros((2, 2))), "R0014", "only semi-definite")
c.fails("cholesky__batched", dict(a=np.array([[[1.0]], [[-1.0]]])), "R0014", "one of a batch")
for k, columns in ((0, 1), (1, 1), (2, 3), (3, 0), (4, 2), (19, 2)):
    a, b = regular(k, k), n(k, columns)
    c.add("solve", dict(a=a, b=b), np.linalg.solve(a, b), "numpy.linalg.solve")
a, b = np.array([[0.0, 2.0], [3.0, 1.0]]), n(2, 2)
c.add("solve", dict(a=a, b=b), np.linalg.solve(a, b), "numpy.linalg.solve, rows exchanged")
a, b = regular(2, 3, 2, 2), n(2, 3, 2, 1)
c.add("solve__batched", dict(a=a, b=b), np.linalg.solve(a, b), "numpy.linalg.solve")
c.fails("solve", dict(a=np.array([[1.0, 2.0], [2.0, 4.0]]), b=n(2, 1)), "R0013", "rank 1")
c.fails("solve", dict(a=np.zeros((1, 1)), b=n(1, 1)), "R0013", "a zero")
a, b = regular(3, 3), n(3)
c.add("solve_vector", dict(a=a, b=b), np.linalg.solve(a, b), "numpy.linalg.solve")
a, b = regular(4, 3, 3), n(4, 3)
c.add("solve_vector__batched", dict(a=a, b=b), np.linalg.solve(a, b[..., None])[..., 0], "numpy.linalg.solve")
t = scipy.linalg.solve_triangular
for k, columns in ((3, 2), (1, 1), (18, 3)):
    a, b = regular(k, k), n(k, columns)
    both = np.stack([a, a + np.eye(k)]), np.stack([b, b + 1])
    lower = np.stack([t(x, y, lower=True) for x, y in zip(*both)])
    c.add("solve_lower", dict(a=both[0], b=both[1]), lower, "scipy.linalg.solve_triangular")
    c.add("solve_lower_transposed", dict(a=a, b=b), t(a, b, lower=True, trans=1), "scipy.linalg.solve_triangular")
    c.add("solve_upper", dict(a=a, b=b), t(a, b), "scipy.linalg.solve_triangular")
    unit = t(a, b, lower=True, unit_diagonal=True)
    c.add("solve_unit_lower", dict(a=a, b=b), unit, "scipy.linalg.solve_triangular")
c.fails("solve_upper", dict(a=np.array([[1.0, 2.0], [5.0, 0.0]]), b=n(2, 1)), "R0013", "a zero on the diagonal")
for k in (0, 1, 3, 17):
    a = regular(k, k)
    c.add("inverse", dict(a=a), np.linalg.inv(a), "numpy.linalg.inv")
a = regular(2, 3, 3)
c.add("inverse__batched", dict(a=a), np.linalg.inv(a), "numpy.linalg.inv")
c.fails("inverse", dict(a=np.ones((2, 2))), "R0013", "rank 1")
for k in (0, 1, 2, 4, 18):
    a = n(k, k)
    c.add("slogdet", dict(a=a), tuple(np.linalg.slogdet(a)), "numpy.linalg.slogdet")
c.add("slogdet", dict(a=np.ones((2, 2))), (np.float64(0.0), np.float64(-np.inf)), "numpy.linalg.slogdet", kinks=True)
a = n(3, 2, 2)
c.add("slogdet__batched", dict(a=a), tuple(np.linalg.slogdet(a)), "numpy.linalg.slogdet")
c.add("logdet", dict(a=a), np.linalg.slogdet(a)[1], "numpy.linalg.slogdet")
for k in (0, 1, 2, 3, 5):
    a = n(k, k)
    c.add("det", dict(a=a), np.float64(np.linalg.det(a)), "numpy.linalg.det")
# At singular matrices the derivative is the transposed adjugate: no division by what is 0.
c.add("det", dict(a=np.array([[1.0, 2.0], [2.0, 4.0]])), np.float64(0.0), "numpy.linalg.det",
      gradient=dict(a=np.array([[4.0, -2.0], [-2.0, 1.0]])))
c.add("det", dict(a=np.array([[0.0, 2.0], [0.0, 4.0]])), np.float64(0.0), "numpy.linalg.det",
      gradient=dict(a=np.array([[4.0, 0.0], [-2.0, 0.0]])))
c.add("det", dict(a=np.zeros((3, 3))), np.float64(0.0), "numpy.linalg.det", gradient=dict(a=np.zeros((3, 3))))


def lu(a):
    p, lower, upper = scipy.linalg.lu(a)
    return p.argmax(0), lower, upper


for k in (0, 1, 2, 4, 18):
    a = n(k, k)
    c.add("lu", dict(a=a), lu(a) if k else (np.zeros(0), a, a), "scipy.linalg.lu")
a = n(2, 3, 3)
parts = [lu(x) for x in a]
c.add("lu__batched", dict(a=a), tuple(np.stack(part) for part in zip(*parts)), "scipy.linalg.lu")


def qr(a):
    q, r = np.linalg.qr(a)
    sign = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    return q * sign[..., None, :], r * sign[..., :, None]


for shape in ((1, 1), (3, 3), (5, 2), (20, 18), (2, 1), (3, 0)):
    a = n(*shape)
    c.add("qr", dict(a=a), qr(a), "numpy.linalg.qr, signs of a positive diagonal")
a = n(2, 4, 3)
c.add("qr__batched", dict(a=a), qr(a), "numpy.linalg.qr, signs of a positive diagonal")


def eigh(a):
    w, v = np.linalg.eigh((a + a.swapaxes(-1, -2)) / 2)
    return w, v * signs(v)[..., None, :]


for k in (0, 1, 2, 3, 5, 18):
    a = n(k, k)
    c.add("eigh", dict(a=a), eigh(a), "numpy.linalg.eigh of the symmetric part, signs of a positive largest entry")
a = n(2, 3, 3)
c.add("eigh__batched", dict(a=a), eigh(a), "numpy.linalg.eigh of the symmetric part, signs of a positive largest entry")


def svd(a):
    u, s, v = np.linalg.svd(a, full_matrices=False)
    sign = signs(u)
    return u * sign[..., None, :], s, v.swapaxes(-1, -2) * sign[..., None, :]


for shape in ((1, 1), (3, 3), (5, 2), (2, 4), (3, 0), (18, 17)):
    a = n(*shape)
    c.add("svd", dict(a=a), svd(a), "numpy.linalg.svd, signs of a positive largest entry")
a = n(2, 4, 3)
c.add("svd__batched", dict(a=a), svd(a), "numpy.linalg.svd, signs of a positive largest entry")
for shape in ((3, 3), (4, 2), (2, 3), (1, 1)):
    a = n(*shape)
    c.add("pinv", dict(a=a), np.linalg.pinv(a), "numpy.linalg.pinv")
for (rows, columns), k in (((4, 2), 1), ((3, 3), 2), ((20, 3), 2)):
    a, b = n(rows, columns), n(rows, k)
    c.add("lstsq", dict(a=a, b=b), np.linalg.lstsq(a, b, rcond=None)[0], "numpy.linalg.lstsq")
for a in (n(0, 0), n(1, 1), n(2, 2), n(3, 3), 4 * n(4, 4), np.array([[0.0, 1.0], [0.0, 0.0]])):
    c.add("expm", dict(a=a), scipy.linalg.expm(a) if a.size else a, "scipy.linalg.expm")
a, b = n(3, 3) + 3 * np.eye(3), n(3)
c.add("solve__vector", dict(a=a, b=b), np.linalg.solve(a, b), "numpy.linalg.solve")
c.write()
