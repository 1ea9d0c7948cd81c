"""Transforms of functions: gradients, Jacobians, vectorising maps, and modules as functions.

>>> import facula
>>> from facula.func import grad, vmap
>>> per_sample = vmap(grad(lambda x: (x**3).sum()))
>>> per_sample(facula.tensor([[1.0], [2.0]]))
tensor([[ 3.],
        [12.]])
"""

from facula._functorch.vmap import vmap
from facula.func._forward import hessian, jacfwd, jvp, linearize
from facula.func._modules import (
    functional_call,
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from facula.func._reverse import grad, grad_and_value, jacrev, vjp

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
