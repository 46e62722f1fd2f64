"""Reference table of `quadrat::special::truncated_normal`, from mpmath alone.

    python3 crates/quadrat/tests/reference/truncated_normal.py > crates/quadrat/tests/reference/truncated_normal.csv

Written for mpmath 1.3.0. Closed forms at 260 digits, so that the cancellation of narrow windows far out does not
count; arguments are exact doubles printed with `repr`, results have 20 digits.
"""

from mpmath import erfc, exp, inf, log, mp, mpf, nstr, pi, sqrt

mp.dps = 260

LOWER = [0.0, 1e-9, 0.1, 0.5, 0.9, 1.4, 1.99, 2.0, 2.3, 3.0, 5.0, 8.0, 12.5, 38.0, 39.0, 90.0, 200.0, 1000.0]
WIDTH = [1e-9, 1e-6, 1e-3, 0.07, 0.5, 0.99, 1.0, 1.7, 1.999, 2.0, 2.5, 4.0, 9.0, 30.0, 300.0, float("inf")]
AROUND = [
    (-1e-9, 2e-9), (-0.1, 0.1), (-0.3, 0.300001), (-0.5, 0.6), (-0.9, 1.0), (-1.0, 1.0), (-1.0, 1.5),
    (-2.0, 2.5), (-0.5, 4.0), (-3.0, 3.1), (-5.0, 6.0), (-8.0, 9.0), (-12.0, 30.0), (-20.0, 21.0),
    (-0.01, float("inf")), (-1.0, float("inf")), (-5.0, float("inf")), (-12.0, float("inf")),
    (-30.0, float("inf")), (-7.0, 7.0), (-1.0, 1.0 + 2**-40),
]


def row(lower, upper):
    """log Z, mean, variance, 1 - variance, third and fourth cumulant."""
    a, b = mpf(lower), mpf(upper)
    phi = lambda t: mpf(0) if abs(t) == inf else exp(-t * t / 2) / sqrt(2 * pi)
    z = (erfc(a / sqrt(mpf(2))) - (mpf(0) if b == inf else erfc(b / sqrt(mpf(2))))) / 2
    term = lambda k: (a**k * phi(a) - (mpf(0) if b == inf else b**k * phi(b))) / z
    m1 = term(0)
    m2 = 1 + term(1)
    m3 = 2 * m1 + term(2)
    m4 = 3 * m2 + term(3)
    variance = m2 - m1**2
    third = m3 - 3 * m2 * m1 + 2 * m1**3
    fourth = m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4
    return [log(z), m1, variance, 1 - variance, third, fourth]


def main():
    print("lower,upper,log_z,mean,variance,lost,third,fourth")
    windows = [(a, a + w) for a in LOWER for w in WIDTH] + AROUND
    for lower, upper in windows:
        # erfc of far ends underflows no exponent here, but needs digits beyond their difference.
        mp.dps = 260 if upper == float("inf") or upper < 60 else 400
        numbers = ",".join(nstr(x, 20) for x in row(lower, upper))
        print(f"{lower!r},{upper!r},{numbers}")


main()
