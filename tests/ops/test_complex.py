"""Complex inputs of operators whose samples are real: those that take them give what real ones give
where the imaginary parts are zero, and forward and reverse mode agree.
"""

from __future__ import annotations

import pytest
from samples import samples, tensors_in
from test_gradients import function_of, of
from test_transforms import filled, product

import facula
from facula.func import jvp, vjp

DIFFERENT = {
    "__rpow__": "powers of a negative base are complex",
    "linalg.eig": "eigenvalues of real matrices come in another order",
    "linalg.eigvals": "eigenvalues of real matrices come in another order",
    "stft": "spectra of complex signals have two sides",
}
REAL = {
    op: s[0]
    for op, s in samples(lambda case: case.get("dtype") == "float32", 1).items()
    if op not in DIFFERENT
}
DIFFERENTIABLE = of("float32")
REFUSES = (RuntimeError, TypeError, ValueError)
# What takes no complex numbers. An operator that comes to take them leaves the list.
REAL_ONLY = frozenset(
    """
    __rmod__ amax amin aminmax argmax argmin atan2 bucketize clamp_max clamp_min complex
    copysign cummax cummin digamma erfc fft.ihfft2 fft.rfft2 floor_divide fmax fmin fmod frexp
    ge grid_sampler_3d gt heaviside histc histogram histogramdd hypot i0 igamma igammac isin
    kthvalue le lgamma log_softmax logaddexp2 logit lt masked.amax masked.amin masked.argmax
    masked.argmin masked.log_softmax masked.median masked.softmax masked.softmin max maximum
    median min minimum mode mvlgamma nanmean nanmedian nanquantile nansum nextafter
    nn.functional.adaptive_avg_pool1d nn.functional.adaptive_avg_pool3d
    nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool2d nn.functional.avg_pool1d
    nn.functional.avg_pool2d nn.functional.batch_norm nn.functional.binary_cross_entropy
    nn.functional.binary_cross_entropy_with_logits nn.functional.celu
    nn.functional.cosine_embedding_loss nn.functional.cross_entropy nn.functional.elu
    nn.functional.embedding_bag nn.functional.gaussian_nll_loss nn.functional.group_norm
    nn.functional.hardshrink nn.functional.hardsigmoid nn.functional.hardtanh
    nn.functional.hinge_embedding_loss nn.functional.instance_norm nn.functional.layer_norm
    nn.functional.linear_cross_entropy nn.functional.local_response_norm
    nn.functional.logsigmoid nn.functional.margin_ranking_loss nn.functional.max_pool1d
    nn.functional.max_pool2d nn.functional.max_unpool1d nn.functional.max_unpool2d
    nn.functional.max_unpool3d nn.functional.mish nn.functional.multi_margin_loss
    nn.functional.multilabel_margin_loss nn.functional.multilabel_soft_margin_loss
    nn.functional.nll_loss nn.functional.pdist nn.functional.poisson_nll_loss
    nn.functional.prelu nn.functional.relu nn.functional.relu6 nn.functional.selu
    nn.functional.soft_margin_loss nn.functional.softmin nn.functional.softplus
    nn.functional.softshrink nn.functional.threshold polar polygamma quantile remainder round
    searchsorted softmax special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0
    special.bessel_y1 special.chebyshev_polynomial_t special.chebyshev_polynomial_u
    special.chebyshev_polynomial_v special.chebyshev_polynomial_w special.entr special.erfcx
    special.hermite_polynomial_h special.hermite_polynomial_he special.i0e special.i1
    special.i1e special.laguerre_polynomial_l special.legendre_polynomial_p special.log_ndtr
    special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0
    special.modified_bessel_k1 special.ndtr special.ndtri special.polygamma
    special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1
    special.shifted_chebyshev_polynomial_t special.shifted_chebyshev_polynomial_u
    special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w
    special.spherical_bessel_j0 special.xlog1py special.zeta topk unique_consecutive
    view_as_complex xlogy
    """.split()
)


def double(t: facula.Tensor) -> facula.Tensor:
    return t.detach().double() if t.is_floating_point() else t


def as_complex(t: facula.Tensor) -> facula.Tensor:
    return t.detach().to(facula.complex128) if t.is_floating_point() else t


def imagined(t: facula.Tensor) -> facula.Tensor:
    """Floats with an imaginary part, as fresh leaves that keep the wish for a gradient."""
    if not t.is_floating_point():
        return t
    wide = t.detach().double()
    return facula.complex(wide, 0.3 * filled(wide, 7)).requires_grad_(t.requires_grad)


def results(op: str, change) -> list[facula.Tensor]:
    facula.manual_seed(0)
    call, args, kwargs = REAL[op].build(change)
    return [t.to_dense() for t in tensors_in(call(*args, **kwargs))]


@pytest.mark.parametrize("op", sorted(REAL))
def test_zero_imaginary_parts_change_nothing(op: str) -> None:
    expected = results(op, double)
    if op in REAL_ONLY:
        with pytest.raises(REFUSES):
            results(op, as_complex)
        return
    found = results(op, as_complex)
    for t, want in zip(found, expected, strict=True):
        t = t.to(facula.complex128)
        facula.testing.assert_close(t.real, want.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
        assert not t.imag.nan_to_num().abs().gt(1e-6).any()


@pytest.mark.parametrize("op", sorted(DIFFERENTIABLE.keys() - REAL_ONLY))
def test_jvp_agrees_with_vjp(op: str) -> None:
    run, leaves = function_of(DIFFERENTIABLE[op], imagined)
    primals = tuple(t.detach() for t in leaves)
    tangents = tuple(filled(t, 1) for t in primals)
    outputs, pushed = jvp(run, primals, tangents)
    cotangents = tuple(filled(t, 2) for t in outputs)
    _, pull = vjp(run, *primals)
    facula.testing.assert_close(
        product(cotangents, pushed),
        product(pull(cotangents), tangents),
        rtol=1e-6,
        atol=1e-8,
        equal_nan=True,
        check_dtype=False,
    )
