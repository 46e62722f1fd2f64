"""Reference covariances of box averages: writes box_covariance.csv.

    python -m venv v && v/bin/pip install mpmath numpy gmpy2 && v/bin/python box_covariance.py

All numbers that the tests feed in are doubles, taken exactly. Values come from

* one dimension, stationary: second antiderivatives at DIGITS digits (the cancellation for narrow boxes costs at
  most 40 of them); rational quadratic by Gauss's hypergeometric function; periodic by its Fourier series;
* two and three dimensions: the gamma mixture of squared exponentials at 50 digits;
* products on one column: Gauss-Legendre (40 nodes a panel) of the density of the difference.

Derivatives are central differences at full precision with relative step 1e-25 (truncation 1e-50), or exact rules
for products. `checks` compares every closed form with cubature that knows only the kernel as a function of the
distance.
"""

import sys
from functools import lru_cache

import mpmath as mp
import numpy as np

DIGITS = 120
mp.mp.dps = DIGITS
H = mp.mpf(10) ** -25


def half_power(r2, nu):
    r = mp.sqrt(r2)
    if nu == "12":
        return mp.exp(-r)
    if nu == "32":
        t = mp.sqrt(3) * r
        return (1 + t) * mp.exp(-t)
    t = mp.sqrt(5) * r
    return (1 + t + t * t / 3) * mp.exp(-t)


def kappa(kind, r2, alpha=None):
    """The kernel as a function of the squared scaled distance."""
    if kind == "se":
        return mp.exp(-r2 / 2)
    if kind == "rq":
        return (1 + r2 / (2 * alpha)) ** -alpha
    return half_power(r2, kind[-2:])


def antiderivative(kind, r, l, alpha=None):
    """Even G with G'' = kappa."""
    r = abs(r)
    if kind == "se":
        return l * mp.sqrt(mp.pi / 2) * r * mp.erf(r / (mp.sqrt(2) * l)) + l * l * mp.exp(-r * r / (2 * l * l))
    if kind == "matern12":
        return r * l + l * l * mp.exp(-r / l)
    if kind == "matern32":
        a = mp.sqrt(3) / l
        return 2 * r / a + (3 / a**2 + r / a) * mp.exp(-a * r)
    if kind == "matern52":
        a = mp.sqrt(5) / l
        return 8 * r / (3 * a) + (5 / a**2 + 7 * r / (3 * a) + r * r / 3) * mp.exp(-a * r)
    q = r * r / (2 * alpha * l * l)
    first = r * mp.hyp2f1(mp.mpf(1) / 2, alpha, mp.mpf(3) / 2, -q)
    if alpha == 1:
        second = l * l * mp.log(1 + q)
    else:
        second = l * l * alpha / (1 - alpha) * ((1 + q) ** (1 - alpha) - 1)
    return r * first - second


@lru_cache(maxsize=None)
def cached(kind, r, l, alpha):
    return antiderivative(kind, r, l, alpha)


def first_antiderivative(kind, r, l, alpha=None):
    """Odd, slope kappa."""
    sign, r = mp.sign(r), abs(r)
    if kind == "se":
        k = l * mp.sqrt(mp.pi / 2) * mp.erf(r / (mp.sqrt(2) * l))
    elif kind == "matern12":
        k = l * (1 - mp.exp(-r / l))
    elif kind == "matern32":
        a = mp.sqrt(3) / l
        k = (2 - (2 + a * r) * mp.exp(-a * r)) / a
    elif kind == "matern52":
        a = mp.sqrt(5) / l
        k = (8 - (8 + 5 * a * r + a * a * r * r) * mp.exp(-a * r)) / (3 * a)
    else:
        k = r * mp.hyp2f1(mp.mpf(1) / 2, alpha, mp.mpf(3) / 2, -r * r / (2 * alpha * l * l))
    return sign * k


def line(kind, a, b, l, alpha=None):
    """Mean of kappa over two intervals; equal edges are points."""
    (s, t), (u, v) = a, b
    if s == t and u == v:
        return kappa(kind, ((s - u) / l) ** 2, alpha)
    if s == t:
        return (first_antiderivative(kind, v - s, l, alpha) - first_antiderivative(kind, u - s, l, alpha)) / (v - u)
    if u == v:
        return line(kind, b, a, l, alpha)
    g = lambda r: cached(kind, abs(r), l, alpha)
    return (g(t - u) + g(s - v) - g(t - v) - g(s - u)) / ((t - s) * (v - u))


def sinc(x):
    return mp.mpf(1) if x == 0 else mp.sin(x) / x


@lru_cache(maxsize=None)
def fourier(l):
    x = 1 / (l * l)
    out, m = [], 0
    while True:
        c = (1 if m == 0 else 2) * mp.exp(-x) * mp.besseli(m, x)
        out.append(c)
        if m > 2 and c < mp.mpf(10) ** -75:
            return out
        m += 1


def periodic(a, b, l, p):
    (s, t), (u, v) = a, b
    w = 2 * mp.pi / p
    c = (u + v - s - t) / 2
    return mp.fsum(
        k * sinc(m * w * (t - s) / 2) * sinc(m * w * (v - u) / 2) * mp.cos(m * w * c) for m, k in enumerate(fourier(l))
    )


def with_slopes(f, theta):
    """Value and central differences of f(theta)."""
    slopes = []
    for i, x in enumerate(theta):
        up, down = list(theta), list(theta)
        up[i], down[i] = x * (1 + H), x * (1 - H)
        slopes.append((f(up) - f(down)) / (2 * x * H))
    return f(list(theta)), slopes


# ---- several dimensions -------------------------------------------------------------------------------------------

NARROW_NODES = None


def legendre(n):
    """Gauss-Legendre nodes and weights on [0, 1]."""
    rule = []
    for i in range(1, n + 1):
        x = mp.cos(mp.pi * (i - mp.mpf(1) / 4) / (n + mp.mpf(1) / 2))
        for _ in range(12):
            before, p = mp.mpf(0), mp.mpf(1)
            for k in range(n):
                before, p = p, ((2 * k + 1) * x * p - k * before) / (k + 1)
            slope = n * (x * p - before) / (x * x - 1)
            x -= p / slope
        rule.append(((x + 1) / 2, 1 / ((1 - x * x) * slope**2)))
    return rule


def spread(a, l):
    """Nodes of the average over an interval that is a point or narrow, else None."""
    s, t = a
    if s == t:
        return [(s, mp.mpf(1))]
    if (t - s) / l < mp.mpf("1e-3"):
        # Error (w/l)^12 < 1e-36.
        return [(s + (t - s) * x, w) for x, w in NARROW_NODES]
    return None


def se_line(a, b, l):
    """Mean of a squared exponential, without cancellation for boxes that are narrow for it."""
    na, nb = spread(a, l), spread(b, l)
    if na and nb:
        return mp.fsum(w * v * mp.exp(-(((x - y) / l) ** 2) / 2) for x, w in na for y, v in nb)
    if na:
        return mp.fsum(w * line("se", (x, x), b, l) for x, w in na)
    if nb:
        return mp.fsum(w * line("se", (y, y), a, l) for y, w in nb)
    return line("se", a, b, l)


def mixture(kind, a, b, theta):
    """Value and slopes of an isotropic kernel; theta = lengthscales [alpha]."""
    dims = len(a)
    if kind == "se":
        members, alpha_slopes = [(mp.mpf(1), mp.mpf(1))], [mp.mpf(0)]
    else:
        shape = theta[dims] if kind == "rq" else mp.mpf(int(kind[-2])) / 2
        step = mp.mpf(1) / 8
        members, alpha_slopes = [], []
        log_shape, log_gamma, digamma = mp.log(shape), mp.loggamma(shape), mp.digamma(shape)
        for direction in (1, -1):
            i = 0 if direction == 1 else -1
            while True:
                x = i * step
                log = shape * (log_shape + x - mp.exp(x)) - log_gamma
                if log < -58:
                    break
                weight = mp.exp(log) * step
                scale = mp.exp(-x / 2) if kind == "rq" else mp.exp(x / 2)
                members.append((scale, weight))
                alpha_slopes.append(weight * (x - mp.exp(x) + log_shape + 1 - digamma))
                i += direction
    value, slopes = mp.mpf(0), [mp.mpf(0)] * len(theta)
    for (scale, weight), alpha_slope in zip(members, alpha_slopes):
        means, diffs = [], []
        for d in range(dims):
            l = theta[d]
            m, (dm,) = with_slopes(lambda q: se_line(a[d], b[d], q[0] * scale), [l])
            means.append(m)
            diffs.append(dm)
        product = mp.fprod(means)
        value += weight * product
        for d in range(dims):
            slopes[d] += weight * mp.fprod(diffs[e] if e == d else means[e] for e in range(dims))
        if kind == "rq":
            slopes[dims] += alpha_slope * product
    return value, slopes


# ---- products on one column ---------------------------------------------------------------------------------------

PANEL = None


def coupled(f, a, b, theta, step, linear):
    """Mean of [x x'] f(x - x', theta) by the density of the difference."""
    (s, t), (u, v) = a, b
    xx = lambda x, y: x * y if linear else mp.mpf(1)

    def at(delta):
        """Integral of x (x + delta) over the overlap, divided by the widths."""
        lo, hi = max(s, u - delta), min(t, v - delta)
        size = hi - lo
        if size <= 0:
            return mp.mpf(0)
        if not linear:
            return size
        return (hi**3 - lo**3) / 3 + delta * (hi**2 - lo**2) / 2

    nodes = []
    if s == t and u == v:
        nodes = [(u - s, xx(s, u))]
    elif s == t or u == v:
        point, (lo, hi) = (s, (u, v)) if s == t else (u, (s, t))
        cuts = sorted({lo, hi} | ({point} if lo < point < hi else set()))
        for p, q in zip(cuts, cuts[1:]):
            n = max(1, int(mp.ceil((q - p) / step)))
            for k in range(n):
                for x, w in PANEL:
                    y = p + (q - p) * (k + x) / n
                    nodes.append((y - point, w * (q - p) / n / (hi - lo) * xx(point, y)))
    else:
        corners = {u - t, v - t, u - s, v - s}
        low, high = min(corners), max(corners)
        cuts = sorted(corners | ({mp.mpf(0)} if low < 0 < high else set()))
        for p, q in zip(cuts, cuts[1:]):
            n = max(1, int(mp.ceil((q - p) / step)))
            for k in range(n):
                for x, w in PANEL:
                    y = p + (q - p) * (k + x) / n
                    nodes.append((y, w * (q - p) / n * at(y) / ((t - s) * (v - u))))
    return with_slopes(lambda th: mp.fsum(w * f(x, th) for x, w in nodes), theta)


def periodic_kappa(u, l, p):
    return mp.exp(-2 * mp.sin(mp.pi * u / p) ** 2 / (l * l))


PRODUCTS = {
    "se(t) * periodic(t)": (lambda u, th: kappa("se", (u / th[0]) ** 2) * periodic_kappa(u, th[1], th[2]), False),
    "matern32(t) * periodic(t)": (
        lambda u, th: kappa("matern32", (u / th[0]) ** 2) * periodic_kappa(u, th[1], th[2]),
        False,
    ),
    "linear(t) * se(t)": (lambda u, th: kappa("se", (u / th[0]) ** 2), True),
    "linear(t) * matern32(t)": (lambda u, th: kappa("matern32", (u / th[0]) ** 2), True),
}

# ---- the boxes ----------------------------------------------------------------------------------------------------

EQUAL = [0, 1e-8, 1e-5, 1e-2, 0.3, 0.5, 0.7, 3, 30, 1e4]
UNEQUAL = [
    (0, 1e-8), (0, 0.1), (1, 0), (0, 1e4), (1e-8, 1e-6), (1e-8, 0.4), (2, 1e-8), (1e-8, 1e4), (1e-4, 0.03),
    (0.03, 0.45), (0.2, 0.6), (0.45, 0.55), (5, 0.6), (0.9, 100), (5, 1e4), (0.499, 0.501), (1e-2, 1e3),
]  # fmt: skip


def pairs_1d(unit):
    out = []
    for w, v in [(w, w) for w in EQUAL] + UNEQUAL:
        small = min(w, v)
        starts = [0, (w - v) / 2, w - 0.37 * small, w, -v - 0.21, w + 0.013, w + 1.3, w + 6, -v - 30]
        if w == v:
            del starts[1]
        for k, start in enumerate(starts):
            shift = 1e4 if (len(out) + k) % 3 == 0 else -0.17
            s, u = float(unit * shift), float(unit * (shift + start))
            out.append((((s, s + unit * w),), ((u, u + unit * v),)))
    return out


def pairs_nd(dims):
    moderate = [0.8, 1.5, 0.4]
    a = [((0.1, 0.9), (-0.3, 1.2), (0.5, 0.9))]
    layouts = [
        # lower edges and widths of b along each dimension
        [(0.1, 0.8), (-0.3, 1.5), (0.5, 0.4)],
        [(0.4, 1.0), (0.2, 0.5), (0.6, 2.0)],
        [(0.9, 0.8), (-0.3, 1.5), (0.5, 0.4)],
        [(0.9, 0.8), (1.2, 0.7), (0.9, 1.1)],
        [(0.3, 0.0), (0.5, 0.0), (0.7, 0.0)],
        [(2.5, 1.0), (-4.0, 2.0), (3.0, 1.0)],
        [(0.3, 1e-7), (0.5, 1e-3), (0.7, 1e-5)],
        [(-500.0, 1000.0), (-3000.0, 6000.0), (-1.0, 200.0)],
        [(0.3, 1e-6), (-3000.0, 6000.0), (0.2, 0.0)],
        [(20.0, 5.0), (-30.0, 2.0), (0.0, 1.0)],
    ]
    out = [(a[0][:dims], tuple((float(s), float(s + w)) for s, w in b[:dims])) for b in layouts]
    narrow = ((0.25, 0.25 + 1e-6), (0.1, 0.1 + 1e-8), (0.3, 0.3 + 1e-4))
    wide = ((-2000.0, 3000.0), (-70.0, 80.0), (-10.0, 900.0))
    shifted = tuple((s + 1e4, t + 1e4) for s, t in a[0])
    half = ((1e4 + 0.3, 1e4 + 0.7), (1e4 + 0.5, 1e4 + 0.5), (1e4 + 0.25, 1e4 + 1.75))
    out += [
        (narrow[:dims], narrow[:dims]),
        (narrow[:dims], tuple((t, t + 1e-7) for _, t in narrow[:dims])),
        (narrow[:dims], wide[:dims]),
        (wide[:dims], wide[:dims]),
        (shifted[:dims], half[:dims]),
        (((0.0, 0.0), (0.0, 1.0), (1.0, 1.0))[:dims], ((0.5, 2.5), (0.25, 0.25), (1.0, 1.0))[:dims]),
    ]
    return out


def pairs_coupled():
    out = []
    for w, v in [(0, 0), (0, 0.9), (1e-6, 1e-6), (1e-6, 0.4), (0.3, 0.3), (0.25, 1.9), (3.1, 3.1), (0.01, 8.0)]:
        for start in [0, (w - v) / 2, w - 0.37 * min(w, v), w, w + 0.4, -v - 5.3]:
            s = 0.6 if len(out) % 2 else -1.1
            out.append((((s, s + w),), ((s + start, s + start + v),)))
    return out


# ---- checks -------------------------------------------------------------------------------------------------------


def cubature(kind, a, b, theta):
    """Isotropic kernel by Gauss-Legendre in doubles, with Duffy's map at the origin; 14 digits for moderate boxes."""
    dims = len(a)
    x, w = np.polynomial.legendre.leggauss(36)
    x, w = (x + 1) / 2, w / 2
    pieces = []
    for (s, t), (u, v), l in zip(a, b, theta):
        corners = sorted({u - t, v - t, u - s, v - s, 0.0})
        corners = [c for c in corners if u - t <= c <= v - s]
        density = lambda d, s=s, t=t, u=u, v=v: (
            np.clip(np.minimum(t, v - d) - np.maximum(s, u - d), 0, None) / ((t - s) * (v - u))
        )
        pieces.append([(p, q, density, l) for p, q in zip(corners, corners[1:])])
    total = 0.0
    grid = np.meshgrid(*[x] * dims, indexing="ij")
    weight = np.ones_like(grid[0])
    for g in np.meshgrid(*[w] * dims, indexing="ij"):
        weight = weight * g

    def value(r2):
        r = np.sqrt(r2)
        if kind == "matern12":
            return np.exp(-r)
        if kind == "matern32":
            return (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r)
        if kind == "matern52":
            return (1 + 5**0.5 * r + 5 * r2 / 3) * np.exp(-(5**0.5) * r)
        if kind == "rq":
            return (1 + r2 / (2 * theta[-1])) ** -theta[-1]
        return np.exp(-r2 / 2)

    import itertools

    for box in itertools.product(*pieces):
        # Along every dimension from the end nearer to zero.
        ends = [(p, q - p) if abs(p) <= abs(q) else (q, p - q) for p, q, _, _ in box]
        jacobian = np.prod([abs(e) for _, e in ends])
        touches = all(o == 0.0 for o, _ in ends)
        for lead in range(dims) if touches else [None]:
            coords, extra = [], 1.0
            for d in range(dims):
                tau = grid[d] if lead is None or d == lead else grid[d] * grid[lead]
                if lead is not None and d != lead:
                    extra = extra * grid[lead]
                coords.append(ends[d][0] + ends[d][1] * tau)
            f = value(sum((c / piece[3]) ** 2 for c, piece in zip(coords, box)))
            for c, piece in zip(coords, box):
                f = f * piece[2](c)
            total += jacobian * np.sum(np.sort((weight * extra * f).ravel()))
    return total


def checks():
    f = mp.mpf
    a, b = (f("0.1"), f("0.9")), (f("0.4"), f("2.0"))
    for kind, alpha in [("se", None), ("matern12", None), ("matern32", None), ("matern52", None), ("rq", f("0.3")), ("rq", f(1))]:
        l = f("0.7")
        direct, _ = coupled(lambda u, th: kappa(kind, (u / th[0]) ** 2, alpha), a, b, [l], f("0.3"), False)
        assert abs(direct - line(kind, a, b, l, alpha)) < 1e-30, kind
    direct, _ = coupled(lambda u, th: periodic_kappa(u, th[0], th[1]), a, b, [f("0.8"), f("0.7")], f("0.05"), False)
    assert abs(direct - periodic(a, b, f("0.8"), f("0.7"))) < 1e-30
    worst = 0
    for dims in (2, 3):
        theta = [f("0.7"), f("1.3"), f("0.9")][:dims]
        for kind in ("se", "matern12", "matern32", "matern52", "rq"):
            th = theta + ([f(1)] if kind == "rq" else [])
            for i in (0, 1, 2, 3):
                p, q = pairs_nd(dims)[i]
                with mp.workdps(50):
                    value, _ = mixture(kind, exact(p), exact(q), th)
                error = abs(float(value) - cubature(kind, p, q, [float(t) for t in th]))
                worst = max(worst, error)
                assert error < 2e-14, (kind, dims, i, error)
    print("mixture against cubature:", worst, file=sys.stderr)


# ---- output -------------------------------------------------------------------------------------------------------


def exact(box):
    return tuple((mp.mpf(s), mp.mpf(t)) for s, t in box)


def edges(box):
    return " ".join(f"{s!r} {t!r}" for s, t in box)


def main():
    global NARROW_NODES, PANEL
    NARROW_NODES, PANEL = legendre(6), legendre(40)
    checks()
    out = open("box_covariance.csv", "w")
    emit = lambda *fields: print(";".join(str(x) for x in fields), file=out, flush=True)
    emit(f"# mpmath {mp.__version__}: one dimension {DIGITS} digits, products {DIGITS}, several dimensions 50; printed to 17")
    emit("# pairs;<name>;<edges of a, low high per dimension>;<edges of b>")
    emit("# kernel;<expression>;<parameters but for variances, which are 1>;<name of the pairs>")
    emit("# <sqrt(k_aa k_bb)>;<k_ab>;<derivatives in the parameters>, one line per pair")
    sets = {"1d": pairs_1d(0.7), "2d": pairs_nd(2), "3d": pairs_nd(3), "coupled": pairs_coupled()}
    for name, pairs in sets.items():
        for a, b in pairs:
            emit("pair", name, edges(a), edges(b))

    def table(expression, theta, name, f):
        emit("kernel", expression, " ".join(repr(t) for t in theta), name)
        th = [mp.mpf(t) for t in theta]
        own = lru_cache(maxsize=None)(lambda box: f(exact(box), exact(box), th)[0])
        for a, b in sets[name]:
            value, slopes = f(exact(a), exact(b), th)
            scale = mp.sqrt(own(a) * own(b))
            emit(mp.nstr(scale, 4), mp.nstr(value, 17), " ".join(mp.nstr(s, 17) for s in slopes))
        cached.cache_clear()
        print(expression, theta, file=sys.stderr)

    only = lambda g: lambda a, b, th: with_slopes(lambda q: g(a[0], b[0], q), th)
    for kind in ("se", "matern12", "matern32", "matern52"):
        table(f"{kind}(x)", [0.7], "1d", only(lambda a, b, q: line(kind, a, b, q[0])))
    for alpha in (0.3, 1.0, 5.0):
        table("rq(x)", [0.7, alpha], "1d", only(lambda a, b, q: line("rq", a, b, *q)))
    for l in (0.8, 0.1):
        with mp.workdps(80):
            table("periodic(x)", [l, 0.7], "1d", only(lambda a, b, q: periodic(a, b, *q)))
    for expression, (f, linear) in PRODUCTS.items():
        theta = [0.7] if linear else [0.7, 0.9, 0.4]
        step = mp.mpf("0.4") if linear else mp.mpf("0.1")
        with mp.workdps(60):
            table(expression, theta, "coupled", lambda a, b, th: coupled(f, a[0], b[0], th, step, linear))
    for dims, columns in ((2, "x, y"), (3, "x, y, z")):
        for kind, alpha in [("se", []), ("matern12", []), ("matern32", []), ("matern52", []), ("rq", [1.0]), ("rq", [5.0]), ("rq", [0.3])]:
            theta = [0.7, 1.3, 0.9][:dims] + alpha
            with mp.workdps(50):
                table(f"{kind}({columns})", theta, f"{dims}d", lambda a, b, th: mixture(kind, a, b, th))


if __name__ == "__main__":
    main()
