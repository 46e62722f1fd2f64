"""The densities and steps of the examples as Python says them; as in `example_models.py`."""

import numpy as np

import quadrat as qd
from example_rows import ends


def bills(read):
    rows = read("bills")
    species = list(dict.fromkeys(rows.columns["species"]))
    each = [qd.Density(own["bill"], data=own.data).to_dict()
            for own in (rows.where("species", name) for name in species)]
    yield "density", {"bill": np.concatenate([one["x"] for one in each]),
                      "species": np.repeat(species, [len(one["x"]) for one in each]).tolist(),
                      **{name: np.concatenate([one[name] for one in each])
                         for name in ("density", "lower", "upper")}}


def constituencies(read):
    # The last band is "85+", and has no end.
    rows = read("bands", **{
        "from": lambda cells: {"from": np.array([float(cell.rstrip("+")) for cell in cells])},
        "to": ends("to", "inf")})
    by = "constituency" if rows.data is not None else {
        "constituency": rows.columns["constituency"]}
    yield "steps", qd.ungroup(rows.data, lower=rows["from"], upper=rows["to"],
                              count=rows["people"], by=by).to_dict()


def galaxies(read):
    rows = read("galaxies")
    told = qd.Density(rows["velocity_km_s"], data=rows.data).to_dict()
    yield "density", {"velocity_km_s": told["x"], **told}


def geyser(read):
    rows = read("geyser")
    told = qd.Density2d(rows["eruptions"], rows["waiting"], data=rows.data).to_dict()
    yield "density", {"eruptions": told["x"], "waiting": told["y"], **told}


def rush_hours(read):
    rows = read("summer")
    told = qd.ConditionalDensity(rows["bicycles"], given=rows["hour"], log=True, data=rows.data)
    columns = told.to_dict()
    yield "density", {"hour": columns["given"], "bicycles": columns["y"], **columns}


def wages(read):
    rows = read("wages", to=ends("to", "inf"))
    told = qd.Density.from_bins(rows["from"], rows["to"], rows["men"], log=True, data=rows.data)
    columns = told.to_dict()
    yield "density", {"value": columns["x"], **columns}
    shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
    value, lower, upper = zip(*(told.quantile(share) for share in shares))
    yield "quantiles", {"quantile": shares, "mean": value, "lower": lower, "upper": upper}
