"""Bundle adjustment; the formula stands in `in_jax/ba.py`. Whole columns of observations are one operation."""

import torch

from . import has_compiler, quiet


def errors(z, features):
    r, x = z[:, 0:3], z[:, 11:14] - z[:, 3:6]
    squared = (r * r).sum(1, keepdim=True)
    angle = torch.sqrt(torch.where(squared == 0.0, 1.0, squared))
    axis = r / angle
    cos, sin = torch.cos(angle), torch.sin(angle)
    along = (axis * x).sum(1, keepdim=True)
    turned = x * cos + torch.linalg.cross(axis, x) * sin + axis * (along * (1.0 - cos))
    p = torch.where(squared == 0.0, x + torch.linalg.cross(r, x), turned)
    e = p[:, :2] / p[:, 2:3]
    rho = (e * e).sum(1, keepdim=True)
    seen = z[:, 6:7] * (1.0 + z[:, 9:10] * rho + z[:, 10:11] * rho * rho) * e + z[:, 7:9]
    return z[:, 14:15] * (seen - features)


def formulations(arguments):
    def joined(a):
        camera, point = a["observations"].T
        return torch.cat([a["cameras"][camera], a["points"][point], a["weights"][:, None]], 1)

    def formulation(errors):
        def jacobian(a):
            # An error depends on its own observation alone: two sums give every row of every block.
            z = joined(a).requires_grad_()
            first, second = errors(z, a["features"]).sum(0)
            rows = [torch.autograd.grad(first, z, retain_graph=True)[0], torch.autograd.grad(second, z)[0]]
            return None, [torch.stack(rows, 1), -2.0 * a["weights"]]

        return quiet(lambda a: errors(joined(a), a["features"]).sum()), jacobian

    found = {"autograd, a sweep for each error": formulation(errors)}
    if has_compiler():
        found["autograd, torch.compile"] = formulation(torch.compile(errors))
    return found
