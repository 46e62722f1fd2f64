"""Reference table of the log-probabilities and tails of counts, from mpmath alone.

    python3 crates/quadrat/tests/reference/count.py > crates/quadrat/tests/reference/count.csv

Written for mpmath 1.3.0. Rows: `dispersion, mean, k, log p(k), log P(Y < k), log P(Y >= k)`, for real `k` too; a
dispersion of 0 is Poisson. The tails are the incomplete gamma and beta functions, integrated over the log of the
mean with mpmath's own adaptive rule and 40 digits; the smaller one is integrated, the other is its complement.
"""

import random

from mpmath import exp, expm1, inf, log, log1p, loggamma, mp, mpf, nstr, quad

mp.dps = 40


def log_probability(alpha, mu, k):
    if alpha == 0:
        return k * log(mu) - mu - loggamma(k + 1)
    a = 1 / alpha
    return loggamma(k + a) - loggamma(a) - loggamma(k + 1) + k * log(alpha * mu) - (k + a) * log1p(alpha * mu)


def tails(alpha, mu, k):
    upper = mu <= k
    sign = -1 if upper else 1

    def ratio(s):
        growth = expm1(sign * s)
        if alpha == 0:
            return exp(sign * k * s - mu * growth)
        w = 1 / (1 + alpha * mu)
        return exp(sign * k * s - (k + 1 / alpha) * log1p(alpha * mu * w * growth))

    end = mpf(1)
    while ratio(end) > mpf(10) ** -45:
        end *= 2
    while ratio(end / 2) < mpf(10) ** -45:
        end /= 2
    points = [mpf(0)] + [end * mpf(2) ** (i - 6) for i in range(7)]
    if alpha > 0:
        pole = -sign * log(alpha * mu)
        points += [pole + d for d in range(-8, 9, 2) if 0 < pole + d < end]
    small = k * quad(ratio, sorted(points), maxdegree=9)
    small = log(small) + log_probability(alpha, mu, k)
    other = log1p(-exp(small))
    return (other, small) if upper else (small, other)


def main():
    random.seed(4)
    print("dispersion,mean,k,log_probability,log_below,log_above")
    for i in range(240):
        alpha = 0.0 if i % 3 == 0 else 10 ** random.uniform(-9, 3)
        k = float(round(10 ** random.uniform(0, 6))) if i % 4 else 10 ** random.uniform(-2, 4)
        sd = (k + alpha * k * k) ** 0.5 / k
        choice = i % 5
        if choice < 3:
            mu = k * 10 ** (random.uniform(-3, 3) * min(sd, 3.0) / 2.3)
        elif choice == 3:
            mu = k * 10 ** random.uniform(-4, 2)
        else:
            mu = k
        a, m, n = mpf(alpha), mpf(mu), mpf(k)
        p = log_probability(a, m, n)
        below, above = tails(a, m, n)
        print(",".join([repr(alpha), repr(mu), repr(k)] + [nstr(v, 22) for v in (p, below, above)]))


main()
