"""Sobol sequences: points recorded from PyTorch, and what the sequence promises."""

import pytest

import facula
from facula.quasirandom import SobolEngine, _table

SCALE = 2**30


def whole(points):
    return (points.double() * SCALE).long().tolist()


def test_the_first_points_of_seven_dimensions():
    assert SobolEngine(7).fast_forward(4093).draw(3, dtype=facula.float64).tolist() == [
        [0.750244140625, 0.691162109375, 0.084228515625, 0.651611328125, 0.190185546875,
         0.828857421875, 0.699462890625],
        [0.500244140625, 0.441162109375, 0.834228515625, 0.401611328125, 0.440185546875,
         0.578857421875, 0.449462890625],
        [0.000244140625, 0.941162109375, 0.334228515625, 0.901611328125, 0.940185546875,
         0.078857421875, 0.949462890625],
    ]  # fmt: skip


def test_dimensions_of_every_degree():
    at = [1, 2, 3, 50, 480, 1110, 9999, 21199, 21200]
    point = SobolEngine(21201).fast_forward(1000).draw(1, dtype=facula.float64)
    assert whole(point[:, at]) == [
        [103809024, 556793856, 726663168, 378535936, 808452096, 397410304, 464519168, 1016070144,
         89128960]
    ]  # fmt: skip


@pytest.mark.parametrize(
    "seed, skip, wanted",
    [
        (1, 1, [[574644315, 911878474, 3677550, 930110077],
                [868903784, 186571692, 942441318, 370173134],
                [11035328, 711069338, 360944382, 547102831],
                [194732245, 98022770, 220977356, 766210560]]),
        (20260, 77, [[14244580, 162566256, 570985932, 1050483816],
                     [430767192, 621352594, 129416645, 424400188]]),
    ],
)  # fmt: skip
def test_scrambled_points_follow_the_seed(seed, skip, wanted):
    engine = SobolEngine(4, scramble=True, seed=seed).fast_forward(skip)
    assert whole(engine.draw(len(wanted), dtype=facula.float64)) == wanted


def test_without_a_seed_the_default_generator_is_drawn_from():
    facula.manual_seed(3)
    engine = SobolEngine(2, scramble=True).fast_forward(1)
    wanted = [[667314816, 776405535], [1032080205, 529433459]]
    assert whole(engine.draw(2, dtype=facula.float64)) == wanted
    assert facula.randint(100, (1,)).item() == 41


@pytest.mark.parametrize("scramble", [False, True])
def test_points_do_not_depend_on_how_they_are_drawn(scramble):
    once = SobolEngine(5, scramble, seed=4).draw(100)
    engine = SobolEngine(5, scramble, seed=4)
    parts = [engine.draw(n) for n in (1, 2, 0, 30, 1)]
    engine.fast_forward(16)
    parts += [once[34:50], engine.draw(50)]
    assert facula.equal(facula.cat(parts), once)
    assert facula.equal(engine.reset().draw(100), once)
    assert engine.num_generated == 100


@pytest.mark.parametrize("scramble", [False, True])
def test_every_interval_holds_one_point(scramble):
    points = SobolEngine(40, scramble, seed=0).draw_base2(6, dtype=facula.float64)
    cells = (points * 64).long().sort(0).values
    assert facula.equal(cells, facula.arange(64).unsqueeze(1).expand(64, 40))


def test_the_table_holds_odd_numbers_below_powers_of_two():
    polynomials, *numbers = _table()
    assert int((polynomials[1:] > polynomials[:-1]).all())
    for j, m in enumerate(numbers):
        used = polynomials >> (j + 1) > 0
        assert bool((m[used] % 2 == 1).all()) and bool((m[used] < 2 ** (j + 1)).all())
        assert not m[~used].any()


def test_types_and_outputs():
    assert SobolEngine(2).draw(3).dtype is facula.float32
    out = facula.empty(0, dtype=facula.float64)
    assert SobolEngine(2).draw(3, out=out) is out
    assert out.shape == (3, 2) and out.dtype is facula.float64
    with pytest.raises(NotImplementedError, match="float16"):
        SobolEngine(2).draw(3, dtype=facula.float16)


@pytest.mark.parametrize("dimension", [0, -1, 21202])
def test_dimensions_that_there_are_not(dimension):
    with pytest.raises(ValueError, match=r"\[1, 21201\]"):
        SobolEngine(dimension)


def test_counts_that_there_are_not():
    with pytest.raises(ValueError, match="non-negative"):
        SobolEngine(2).draw(-1)
    engine = SobolEngine(2)
    engine.draw(3)
    with pytest.raises(ValueError, match=r"n=3\+2\*\*3=11"):
        engine.draw_base2(3)
    with pytest.raises(TypeError):
        SobolEngine(2.0)
    with pytest.raises(TypeError):
        SobolEngine(2).draw(2.5)
    with pytest.raises(ValueError, match=r"2\*\*30 points"):
        engine.draw(2**31)


def test_text():
    assert repr(SobolEngine(2)) == "SobolEngine(dimension=2)"
    engine = SobolEngine(2, scramble=True, seed=5)
    assert repr(engine) == "SobolEngine(dimension=2, scramble=True, seed=5)"
