"""Cases of `std.nn`: the formulas of the papers in NumPy and SciPy; gradients by the complex step, at kinks by hand."""

import numpy as np
import scipy
import scipy.special

from cases import Cases, complex_step

c = Cases("nn", 115)
c.uses(scipy)
inf, nan = np.inf, np.nan
HUGE = np.array([-1e4, -40.0, 40.0, 1e4])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.where(np.real(x) > 0, x, 0) + np.log1p(np.exp(np.where(np.real(x) > 0, -x, x)))


def positive(x):
    """Whether the side of positive numbers is meant."""
    return np.real(x) >= 0


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


SMOOTH = {
    "gelu": lambda x: 0.5 * x * scipy.special.erfc(-x / np.sqrt(2)),
    "gelu_tanh": gelu_tanh,
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "softplus": softplus,
    "softsign": lambda x: x / (1 + np.where(positive(x), x, -x)),
    "log_sigmoid": lambda x: -softplus(-x),
    "snake": lambda x, a: x + np.sin(a * x)**2 / a,
}
SIDED = {
    "leaky_relu": lambda x, slope: np.where(positive(x), x, slope * x),
    "elu": lambda x, alpha: np.where(positive(x), x, alpha * np.expm1(x)),
    "celu": lambda x, alpha: np.where(positive(x), x, alpha * np.expm1(x / alpha)),
    "selu": lambda x: 1.0507009873554804934193349852946 * np.where(
        positive(x), x, 1.6732632423543772848170429916717 * np.expm1(x)),
}
HARD = {
    "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "hard_silu": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
}
GATED = {
    "glu": lambda x, gate: x * sigmoid(gate),
    "geglu": lambda x, gate: x * SMOOTH["gelu"](gate),
    "swiglu": lambda x, gate: x * SMOOTH["silu"](gate),
}
OTHER = {"leaky_relu": dict(slope=0.2), "elu": dict(alpha=1.5), "celu": dict(alpha=1.5), "snake": dict(a=1.5)}

x2 = c.normal(2, 3)
for name, f in (SMOOTH | SIDED).items():
    args = dict(x=x2) | OTHER.get(name, {})
    c.add(name, args, f(**args), "the formula in NumPy", False, complex_step(f, args))
    with np.errstate(over="ignore", invalid="ignore"):
        far = {"mish": np.array([[-1e4, -40.0, 40.0, 1e4]]) * np.tanh(softplus(HUGE)), "silu": HUGE * scipy.special.expit(HUGE)}
        args = dict(x=HUGE.reshape(1, 4)) | OTHER.get(name, {})
        value = far.get(name, f(**args)).reshape(1, 4) if name != "snake" else f(**args)
    if name not in ("snake", "gelu_tanh"):
        c.add(name, args, value, "the formula in NumPy, far out", True)
for name, f in SIDED.items():
    args = dict(x=np.zeros((1, 1))) | OTHER.get(name, {})
    slope = 1.0507009873554805 if name == "selu" else 1.0
    c.add(name, args, np.zeros((1, 1)), "at 0, by hand", True, dict(x=np.full((1, 1), slope)))
for name, f in HARD.items():
    x = np.array([[-4.5, -0.75, 0.25], [0.5, 0.875, 5.0]])
    c.add(name, dict(x=x), f(x), "the formula in NumPy")
c.add("hard_sigmoid", dict(x=np.array([[-3.0, 3.0]])), np.array([[0.0, 1.0]]), "at the cuts, by hand", True,
      dict(x=np.full((1, 2), 1 / 6)))
c.add("hard_tanh", dict(x=np.array([[-1.0, 1.0]])), np.array([[-1.0, 1.0]]), "at the cuts, by hand", True,
      dict(x=np.ones((1, 2))))
for name, f in GATED.items():
    args = dict(x=x2, gate=c.normal(2, 3))
    c.add(name, args, f(**args), "the formula in NumPy", False, complex_step(f, args))
c.add("gelu__number", dict(x=-0.75), SMOOTH["gelu"](-0.75), "the formula in NumPy", False,
      complex_step(SMOOTH["gelu"], dict(x=-0.75)))


def softmax(x):
    e = np.exp(x - np.max(np.real(x), -1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x):
    y = x - np.max(np.real(x), -1, keepdims=True)
    return y - np.log(np.exp(y).sum(-1, keepdims=True))


weights = c.normal(2, 4)
x = c.normal(2, 4)
c.add("softmax", dict(x=x), scipy.special.softmax(x, -1), "scipy.special.softmax")
c.add("softmax__weighted", dict(x=x, w=weights), (softmax(x) * weights).sum(-1), "the formula in NumPy", False,
      complex_step(lambda x, w: softmax(x) * w, dict(x=x, w=weights)))
c.add("log_softmax", dict(x=x), scipy.special.log_softmax(x, -1), "scipy.special.log_softmax", False,
      complex_step(log_softmax, dict(x=x)))
far = np.array([[1e4, 1e4 - 1, -1e4], [-1e4, 0.0, 2.0], [1e4, 1e4, 1e4]])
for name, f in (("softmax", scipy.special.softmax), ("log_softmax", scipy.special.log_softmax)):
    c.add(name, dict(x=far), f(far, -1), f"scipy.special.{name}", False)
masked = np.array([[-inf, 1.0, 2.0], [-inf, -inf, 3.0]])
c.add("softmax", dict(x=masked), scipy.special.softmax(masked, -1), "scipy.special.softmax", True, dict(x=np.zeros((2, 3))))
rows = np.array([[-inf, -inf], [inf, 1.0], [inf, inf], [nan, 1.0]])
c.add("softmax", dict(x=rows), np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [nan, nan]]), "by hand", True)
c.add("softmax", dict(x=rows[:3]), np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]), "by hand", True, dict(x=np.zeros((3, 2))))
c.add("log_softmax", dict(x=rows), np.array([[-inf, -inf], [0.0, -inf], [-np.log(2), -np.log(2)], [nan, nan]]), "by hand", True)
c.add("softmax", dict(x=np.zeros((2, 0))), np.zeros((2, 0)), "by hand")
label = np.array([3, 0])


def cross_entropy(x, label):
    return -np.take_along_axis(log_softmax(x), label[:, None], -1)[:, 0]


args = dict(x=x, label=label)
c.add("cross_entropy", args, cross_entropy(**args), "the formula in NumPy", False, complex_step(cross_entropy, args))
args = dict(x=far, label=np.array([2, 1, 0]))
c.add("cross_entropy", args, cross_entropy(**args), "the formula in NumPy", False, complex_step(cross_entropy, args))
c.add("cross_entropy", dict(x=np.array([[-inf, 0.0], [-inf, -inf], [inf, 0.0]]), label=np.array([0, 1, 0])),
      np.array([inf, inf, 0.0]), "by hand", True)
c.fails("cross_entropy", dict(x=x, label=np.array([4, 0])), "R0001", "there is no such class")
args = dict(predicted=x, target=weights)
c.add("mean_squared_error", args, np.mean((x - weights)**2), "numpy.mean", False,
      complex_step(lambda predicted, target: np.mean((predicted - target)**2), args))


def layer_norm(x, scale, shift, eps=1e-5):
    y = x - x.mean(-1, keepdims=True)
    return y / np.sqrt((y * y).mean(-1, keepdims=True) + eps) * scale + shift


def rms_norm(x, scale, eps=1e-6):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * scale


def group_norm(x, scale, shift, groups, eps=1e-5):
    y = x.reshape(x.shape[0], groups, -1)
    y = y - y.mean(-1, keepdims=True)
    y = (y / np.sqrt((y * y).mean(-1, keepdims=True) + eps)).reshape(x.shape)
    return y * scale[:, None] + shift[:, None]


def batch_norm(x, mean, variance, scale, shift, eps=1e-5):
    y = (x - mean[:, None]) / np.sqrt(variance[:, None] + eps)
    return y * scale[:, None] + shift[:, None]


def trained(x, scale, shift):
    mean = x.mean((0, 2))
    y = x - mean[:, None]
    return batch_norm(x, mean, (y * y).mean((0, 2)), scale, shift)


scale, shift = c.normal(4), c.normal(4)
for x in (c.normal(2, 4), np.full((1, 4), 2.5), 1e4 + c.distinct(1, 4)):
    args = dict(x=x, scale=scale, shift=shift)
    c.add("layer_norm", args, layer_norm(**args), "the formula in NumPy", False, complex_step(layer_norm, args))
args = dict(x=c.normal(2, 4), scale=scale, shift=shift, eps=0.1)
c.add("layer_norm__eps", args, layer_norm(**args), "the formula in NumPy", False, complex_step(layer_norm, args))
for x in (c.normal(2, 4), np.zeros((1, 4)), np.full((1, 4), 1e4)):
    args = dict(x=x, scale=scale)
    c.add("rms_norm", args, rms_norm(**args), "the formula in NumPy", False, complex_step(rms_norm, args))
x = c.normal(2, 4, 3)
for groups in (1, 2, 4):
    args = dict(x=x, scale=scale, shift=shift, groups=groups)
    c.add("group_norm", args, group_norm(**args), "the formula in NumPy", False,
          complex_step(group_norm, args) if groups == 2 else None)
c.fails("group_norm", dict(x=x, scale=scale, shift=shift, groups=3), "R0002", "3 groups of 4 channels")
args = dict(x=x, mean=c.normal(4), variance=np.abs(c.normal(4)), scale=scale, shift=shift)
c.add("batch_norm", args, batch_norm(**args), "the formula in NumPy", False, complex_step(batch_norm, args))
c.add("batch_statistics", dict(x=x), (x.mean((0, 2)), x.var((0, 2))), "numpy.mean, numpy.var")
args = dict(x=x, scale=scale, shift=shift)
c.add("batch_norm__in_training", args, trained(**args), "the formula in NumPy", False, complex_step(trained, args))
flat = np.ones((2, 4, 2))
c.add("batch_norm__in_training", dict(x=flat, scale=scale, shift=shift), trained(flat, scale, shift), "the formula in NumPy",
      False, complex_step(trained, dict(x=flat, scale=scale, shift=shift)))
x = c.normal(2, 3)
c.add("l2_normalize", dict(x=x), x / np.linalg.norm(x, axis=-1, keepdims=True), "numpy.linalg.norm", False,
      complex_step(lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)), dict(x=x)))
c.add("l2_normalize", dict(x=np.zeros((1, 3))), np.zeros((1, 3)), "by hand", True, dict(x=np.full((1, 3), 1e12)))
args = dict(w=c.normal(2, 3), b=c.normal(2), x=c.normal(3))
c.add("dense", args, args["w"] @ args["x"] + args["b"], "numpy.matmul", False,
      complex_step(lambda w, b, x: w @ x + b, args))
args = dict(w=c.normal(2, 3), b=c.normal(2), x=c.normal(2, 3))
c.add("dense__batch", args, args["x"] @ args["w"].T + args["b"], "numpy.matmul", False,
      complex_step(lambda w, b, x: x @ w.T + b, args))
x = c.distinct(4, 6)
c.add("max_pool", dict(x=x, h=2, w=3), x.reshape(2, 2, 2, 3).max((1, 3)), "numpy.max")
c.write()
