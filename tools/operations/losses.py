"""Cases of `std.losses`: the definitions in NumPy and SciPy; gradients by the complex step, at kinks by hand."""

import numpy as np
import scipy
import scipy.special

from cases import Cases, complex_step

c = Cases("losses", 116)
c.uses(scipy)
inf = np.inf


def huber(predicted, target, delta):
    error = predicted - target
    size = np.where(np.real(error) < 0, -error, error)
    return np.where(np.real(size) <= delta, 0.5 * error * error, delta * (size - 0.5 * delta))


def log_cosh(predicted, target):
    return np.log(np.cosh(predicted - target))


def binary_cross_entropy(logit, target):
    return np.log1p(np.exp(logit)) - target * logit


def binary_cross_entropy_of(probability, target):
    return -(target * np.log(probability) + (1 - target) * np.log1p(-probability))


def log_softmax(x):
    y = x - np.max(np.real(x), -1, keepdims=True)
    return y - np.log(np.exp(y).sum(-1, keepdims=True))


def soft_cross_entropy(x, target, smoothing):
    share = (1 - smoothing) * target + smoothing / x.shape[-1]
    return -(share * log_softmax(x)).sum(-1)


def kl_divergence(p, q):
    return (p * np.log(p / q)).sum(-1)


def cosine_similarity(a, b):
    return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def shares(*shape):
    """Probabilities along the last axis."""
    e = np.exp(c.normal(*shape))
    return np.round(e / e.sum(-1, keepdims=True), 3)


def both(name, f, args, **fixed):
    """A case with its gradient."""
    c.add(name, args, f(**args, **fixed), "the definition in NumPy", False, complex_step(lambda **a: f(**a, **fixed), args))


pair = dict(predicted=3 * c.normal(2, 3), target=c.normal(2, 3))
both("huber", huber, pair, delta=1.0)
both("huber__delta", huber, pair | dict(delta=2.0))
c.add("huber", dict(predicted=np.array([[1.0, 1e200]]), target=np.array([[0.0, 0.0]])), np.array([[0.5, 1e200]]), "by hand", True,
      dict(predicted=np.ones((1, 2)), target=-np.ones((1, 2))))
both("log_cosh", log_cosh, pair)
c.add("log_cosh", dict(predicted=np.array([[1e4, -1e4, 1e-9]]), target=np.zeros((1, 3))),
      np.array([[1e4 - np.log(2), 1e4 - np.log(2), 5e-19]]), "by hand", True, dict(predicted=np.array([[1.0, -1.0, 1e-9]])))
pair = dict(logit=c.normal(2, 3), target=np.array([[0.0, 1.0, 0.25], [1.0, 0.0, 0.5]]))
both("binary_cross_entropy", binary_cross_entropy, pair)
c.add("binary_cross_entropy", dict(logit=np.array([[1e4, 1e4, -1e4, -1e4]]), target=np.array([[1.0, 0.0, 0.0, 1.0]])),
      np.array([[0.0, 1e4, 0.0, 1e4]]), "by hand", False, dict(logit=np.array([[0.0, 1.0, 0.0, -1.0]])))
both("binary_cross_entropy_of", binary_cross_entropy_of, dict(probability=shares(2, 3), target=shares(2, 3)))
c.add("binary_cross_entropy_of", dict(probability=np.array([[0.0, 1.0, 0.0, 1.0]]), target=np.array([[0.0, 1.0, 1.0, 0.0]])),
      np.array([[0.0, 0.0, inf, inf]]), "by hand", True)
pair = dict(x=c.normal(2, 4), target=shares(2, 4))
both("soft_cross_entropy", soft_cross_entropy, pair, smoothing=0.0)
both("soft_cross_entropy__smoothing", soft_cross_entropy, pair | dict(smoothing=0.1))
pair = dict(x=np.array([[1e4, 0.0, -1e4]]), target=np.array([[0.25, 0.5, 0.25]]))
both("soft_cross_entropy", soft_cross_entropy, pair, smoothing=0.0)
c.add("soft_cross_entropy", dict(x=np.array([[-inf, 1.0, 1.0]]), target=np.array([[0.0, 1.0, 0.0]])), np.array([np.log(2)]),
      "by hand", True, dict(x=np.array([[0.0, -0.5, 0.5]])))
logs = scipy.special.log_softmax(c.normal(2, 3), -1)
c.add("nll", dict(log_probability=logs, label=np.array([2, 0])), -logs[[0, 1], [2, 0]], "numpy indexing", False,
      dict(log_probability=np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])))
c.fails("nll", dict(log_probability=logs, label=np.array([-1, 0])), "R0001", "there is no such class")
both("kl_divergence", kl_divergence, dict(p=shares(2, 4), q=shares(2, 4)))
c.add("kl_divergence", dict(p=np.array([[0.0, 1.0], [0.5, 0.5]]), q=np.array([[0.5, 0.5], [0.0, 1.0]])),
      np.array([np.log(2), inf]), "scipy.special.rel_entr", True)
score, label = np.array([[0.5, 2.0, -0.5, -2.0]]), np.array([[1.0, 1.0, -1.0, 1.0]])
c.add("hinge", dict(score=score, sign=label), np.maximum(0, 1 - label * score), "numpy.maximum", False,
      dict(score=np.array([[-1.0, 0.0, 1.0, -1.0]])))
c.add("hinge", dict(score=np.array([[1.0]]), sign=np.array([[1.0]])), np.zeros((1, 1)), "by hand", True,
      dict(score=np.zeros((1, 1))))
pair = dict(a=c.normal(2, 3), b=c.normal(2, 3))
both("cosine_similarity", cosine_similarity, pair)
both("cosine_distance", lambda a, b: 1 - cosine_similarity(a, b), pair)
c.add("cosine_similarity", dict(a=np.zeros((1, 2)), b=np.array([[3.0, 4.0]])), np.zeros(1), "by hand", True,
      dict(a=np.array([[0.6e8, 0.8e8]]), b=np.zeros((1, 2))))
both("poisson", lambda log_mean, count: np.exp(log_mean) - count * log_mean, dict(log_mean=c.normal(2, 2), count=np.array([[0.0, 3.0], [1.0, 7.0]])))
both("weighted_mean", lambda values, weights: (values * weights).sum() / weights.sum(),
     dict(values=c.normal(2, 3), weights=np.abs(c.normal(2, 3))))
c.write()
