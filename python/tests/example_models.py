"""The models of the examples as Python says them, and the predictions that their studies ask.

Each function takes what reads tables of its example, and yields names of predictions (with the
output, where there are several) and what is told.
"""

import json

import numpy as np

import quadrat as qd
from conftest import ROOT
from example_rows import below, counts, ends


def acidity(read):
    meter, kit, strip, plots = (read(name) for name in ("meter", "kit", "strip", "plots"))
    model = qd.Model("matern52(east, north, shared = true)")
    for rows, likelihood in (
        (meter, qd.Gaussian(meter["ph"], 0.05**2)),
        (kit, qd.Interval(kit["low"], kit["high"], 0.15**2)),
        (strip, qd.Ordinal(strip["grade"], [5.3, 5.9, 6.5], variance=0.2**2)),
    ):
        model.observe(rows.points("east", "north"), likelihood, data=rows.data)
    yield "plots", model.fit().predict(plots.points("east", "north"), data=plots.data)


def age_by_year(read):
    rows = read("person-years")
    at = rows.boxes(age=("age_from", "age_to"), year=("year_from", "year_to"))
    post = qd.Model("matern52(age) * se(year)").observe(
        at, value=rows["person_years"], noise=0, data=rows.data).fit(hyperparameters="integrate")
    for name, edges in (("by-age-and-year", range(101)), ("aged-67-by-year", [67, 68])):
        yield name, post.predict(qd.cells(age=edges, year=range(2000, 2021), aggregate="sum"))


def fitted_ages(rows, log_variance):
    model = qd.Model("se(age) + matern12(age)", hyperparameters={
        "matern12.variance": {"prior": f"log_normal({log_variance}, 1)"},
        "matern12.lengthscale.age": {"prior": "log_normal(1.609, 0.7)"},
    })
    return model.observe(rows.boxes(age=("from", "to")), value=rows["people"], noise=0,
                         data=rows.data).fit()


YEARS = qd.cells(age=range(101), aggregate="sum")


def ages(read):
    bands = read("bands")
    post = fitted_ages(read("ages"), 24.968)
    yield "by-year", post.predict(YEARS)
    yield "school-ages", post.predict(bands.boxes(age=("from", "to")), data=bands.data)


def ages_five_year(read):
    yield "by-year", fitted_ages(read("ages"), 24.986).predict(YEARS)


def ammonium(read):
    rows = read("precipitation")
    post = qd.Model("matern32(week)").observe(
        rows.points("week"), qd.Censored(rows["log10_nh4"], rows["censored"]), data=rows.data,
    ).fit(hyperparameters="map")
    yield "every-week", post.predict(qd.grid(week=range(2, 156)))


def audience(read):
    rows, planned = read("surveys"), read("planned")
    sides = {name: (f"{name}_from", f"{name}_to") for name in ("age", "income", "joined")}
    post = qd.Model("se(age, income, joined)").observe(
        rows.boxes(**sides), value=rows["replies"], data=rows.data).fit()
    yield "next", post.predict(planned.boxes(**sides), "observation", data=planned.data)


def bikes(read):
    rows = read("lent", bicycles=counts)
    model = qd.Model("coregion(riders, casual, registered, rank = 1) * "
                     "(periodic(hour, period = 24) + matern32(hour))")
    for riders in ("casual", "registered"):
        own = rows.where("riders", riders)
        likelihood = qd.NegativeBinomial(lower=own["least"], upper=own["most"])
        model.observe(own.points("hour"), likelihood, output=riders, data=own.data)
    post = model.fit(method="laplace", hyperparameters="map")
    for riders in post.outputs:
        yield ("demand", riders), post.predict(qd.grid(hour=range(96)), "observation",
                                               output=riders)


def computers(read):
    rows = read("computers")
    post = qd.Model("se(log2_memory)", mean="linear(log2_memory)", hyperparameters={
        "se.lengthscale.log2_memory": {"value": 2, "fixed": True},
    }).observe(rows.points("log2_memory"), qd.Gamma(rows["performance"]), data=rows.data).fit()
    at = qd.grid(log2_memory=np.arange(36, 65) / 4)
    yield "mean-performance", post.predict(at)
    yield "one-computer", post.predict(at, "observation")


def counties(read):
    def areas(name):
        path = ROOT / "examples" / "counties" / f"{name}.geojson"
        return json.loads(path.read_text(encoding="utf-8"))["features"]

    groups, place = areas("groups"), {"dims": ("lon", "lat"), "planar": False}
    births = [one["properties"]["births"] for one in groups]
    part = "se(lon, lat, shared = true)"
    post = qd.Model(f"{part} + {part}").observe(
        qd.region(groups, aggregate="sum", **place), value=births, noise=0).fit()
    for name, features in (("counties", "all-counties"), ("blocks", "squares")):
        yield name, post.predict(qd.region(areas(features), aggregate="sum", **place))
    yield "density", post.predict(qd.grid(lon=np.arange(-843, -754) / 10,
                                          lat=np.arange(338, 367) / 10))


def disasters(read):
    rows = read("counts")
    periods = rows.boxes(year=("from", "to"))
    post = qd.Model("matern52(year)", link="exp").observe(
        periods, qd.Poisson(rows["disasters"]), data=rows.data).fit()
    years = range(1851, 1964)
    yield "rate", post.predict(qd.grid(year=years))
    yield "by-year", post.predict(qd.cells(year=years, aggregate="sum"), "observation")
    yield "periods", post.predict(periods, data=rows.data)


def mixed(read):
    exact, grades, capped = (read(name) for name in ("exact", "grades", "capped"))
    scale = read("intervals", **{"from": ends("from", "-inf"), "to": ends("to", "inf")})
    model = qd.Model("se(t)")
    for rows, likelihood in (
        (exact, qd.Gaussian(exact["value"], 0.01)),
        (scale, qd.Interval(scale["from"], scale["to"], 0.09)),
        (grades, qd.Ordinal(grades["grade"], [4, 6, 8, 10])),
        (capped, qd.Censored(capped["reading"], lower=4, upper=9)),
    ):
        model.observe(rows.points("t"), likelihood, data=rows.data)
    yield "curve", model.fit().predict(qd.grid(t=np.arange(121) / 4))


def released_ages(read):
    rows = read("released")
    bands = rows.boxes(age=("from", "to"))
    post = qd.Model("matern52(age)").observe(
        bands, value=rows["people"], noise=rows["people_variance"], data=rows.data).fit()
    return rows, bands, post


def non_negative(read):
    _, _, post = released_ages(read)
    yield "by-year", post.predict(YEARS, non_negative=True)
    yield "by-year-plain", post.predict(YEARS)


def prevalence(read):
    surveys, clinics, villages = (read(name) for name in ("surveys", "clinics", "villages"))

    def districts(aggregate, keys=None):
        return villages.bags("district", "people", ["x", "y"], aggregate, keys)

    model = qd.Model("matern32(x, y, shared = true)")
    # The villages and the surveys are two tables: columns of the surveys are arrays.
    infected, tested = (surveys.columns[name] for name in ("infected", "tested"))
    model.observe(districts("mean", surveys.columns["district"]), qd.Binomial(infected, tested),
                  data=villages.data)
    model.observe(clinics.points("x", "y"), qd.Binomial(clinics["infected"], clinics["tested"]),
                  data=clinics.data)
    post = model.fit()
    yield "districts", post.predict(districts("mean"), data=villages.data)
    yield "infected", post.predict(districts("sum"), data=villages.data)
    middles = np.arange(2.5, 100, 5)
    yield "map", post.predict(qd.grid(x=middles, y=middles))


def private_ages(read):
    rows, bands, post = released_ages(read)
    yield "by-year", post.predict(YEARS)
    yield "bands", post.predict(bands, data=rows.data)


def river(read):
    phosphate, ammonium = read("phosphate"), read("ammonium", log10_ammonium=below)
    model = qd.Model("coregion(of, phosphate, ammonium, rank = 1) * matern12(km)")
    model.observe(phosphate.points("km"), value=phosphate["log10_phosphate"], output="phosphate",
                  data=phosphate.data)
    model.observe(ammonium.points("km"), qd.Censored(ammonium["reported"], ammonium["side"]),
                  output="ammonium", data=ammonium.data)
    post = model.fit()
    yield ("stations", "ammonium"), post.predict(phosphate.points("km"), "observation",
                                                 output="ammonium", data=phosphate.data)
    for output in post.outputs:
        yield ("river", output), post.predict(qd.grid(km=np.arange(183) * 2.5), output=output)


def robot(read):
    rows = read("distances")
    names = ("se.variance", "se.lengthscale.time", "noise.variance")
    post = qd.Model("se(time)", mean="zero", hyperparameters={
        name: {"prior": "flat"} for name in names
    }).observe(rows.boxes(time=("from", "to")), value=rows["metres"], data=rows.data).fit(
        hyperparameters="map")
    yield "speed", post.predict(qd.grid(time=np.arange(81) * 0.1), "latent")


def seasonal(read):
    rows = read("riders")
    post = qd.Model("periodic(hour, period = 24) + se(hour) * periodic(hour, period = 168) + "
                    "matern32(hour)").observe(
        rows.points("hour"), qd.Gaussian(rows["sqrt_riders"], 0.25, extra="learn"),
        data=rows.data).fit()
    yield "every-hour", post.predict(qd.grid(hour=range(336)), "observation")


def summits(read):
    rows, at = read("stations"), read("summits")
    place = ("east", "north", "elevation")
    post = qd.Model("se(east, north, shared = true)", mean="linear(elevation)").observe(
        rows.points(*place), value=rows["celsius"], data=rows.data).fit()
    yield "summits", post.predict(at.points(*place), data=at.data)


def suppressed(read):
    rows = read("published", deaths=counts)
    deaths = qd.Poisson(lower=rows["least"], upper=rows["most"], exposure=rows["births"])
    post = qd.Model("matern32(x, y)", link="exp").observe(
        rows.points("x", "y"), deaths, data=rows.data).fit(method="laplace",
                                                            hyperparameters="map")
    yield "counties", post.predict(rows.points("x", "y"), data=rows.data)
    yield "map", post.predict(qd.grid(x=range(-430, 331, 10), y=range(-190, 101, 10)))
    texts = "deaths" if rows.data is not None else {"deaths": rows.columns["deaths"]}
    for name, by in (("cells", None), ("hidden", texts), ("all", [])):
        yield name, post.rows(by=by, data=rows.data)


def trees(read):
    plots, pixels = read("plots"), read("pixels")
    inputs = ["x", "y", "elevation", "slope"]
    of_plots = pixels.bags("plot", "hectares", inputs, "sum", plots.columns["plot"])
    post = qd.Model("se(x, y, elevation, slope)", link="exp").observe(
        of_plots, qd.Poisson(plots.columns["trees"]), data=pixels.data,
    ).fit(method="sparse", inducing=40, seed=1)
    cells = pixels.bags("cell", "hectares", inputs, "sum")
    yield "cells", post.predict(cells, "observation", data=pixels.data)


def wine(read):
    rows, judge = read("tastings"), read("judge")
    place = ("warm", "contact", "judge")
    post = qd.Model("linear(warm) + linear(contact) + matern12(judge)", mean="zero",
                    hyperparameters={"matern12.lengthscale.judge": {"value": 0.05, "fixed": True}},
                    ).observe(rows.points(*place), qd.Ordinal(rows["bitterness"]),
                              data=rows.data).fit(hyperparameters="map")
    yield "new-judge", post.predict(judge.points(*place), data=judge.data)
    yield "new-judge-grades", post.predict(judge.points(*place), "observation", data=judge.data)
