"""Special functions: the functions of the operator table that are called facula.special.NAME.

>>> facula.special.ndtr(facula.zeros(1))
tensor([0.5000])
"""

import facula
from facula import _C

_rows = {k: v for k, v in vars(_C._special).items() if not k.startswith("__")}
_rows |= {"softmax": facula.softmax, "log_softmax": facula.log_softmax}
__all__ = sorted(_rows)
globals().update(_rows)
