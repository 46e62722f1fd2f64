"""People of 40 districts, told for 30 others that cut across them."""

import numpy as np

TITLE = "people of 40 districts for 30 others"
ERROR = "RMSE of a district's people, in percent of their mean"
SIDE = 100.0


def districts(rng, number):
    """Voronoi cells of random places in a square."""
    import geopandas
    import shapely
    places = shapely.MultiPoint(rng.uniform(0, SIDE, (number, 2)))
    square = shapely.box(0, 0, SIDE, SIDE)
    cells = shapely.get_parts(shapely.voronoi_polygons(places, extend_to=square))
    cells = shapely.intersection(cells, square)
    return geopandas.GeoDataFrame(geometry=cells, crs="EPSG:3857")


def counted(areas, x, y):
    import shapely
    return np.array([float(np.sum(shapely.contains_xy(area, x, y))) for area in areas.geometry])


def draw(rng):
    """People about six towns and over the country."""
    towns, spread = rng.uniform(10, 90, (6, 2)), rng.uniform(6, 14, 6)
    own = rng.integers(0, 6, 30_000)
    at = towns[own] + spread[own, None] * rng.normal(size=(30_000, 2))
    at = np.vstack([at, rng.uniform(0, SIDE, (10_000, 2))])
    at = at[np.all((at > 0) & (at < SIDE), axis=1)]
    sources, targets = districts(rng, 40), districts(rng, 30)
    sources["people"] = counted(sources, *at.T)
    return {"sources": sources, "targets": targets}, counted(targets, *at.T)


def scale(truth):
    return 100 / np.mean(truth)


def quadrat(sources, targets):
    import quadrat as qd
    told = qd.areal_interpolate(sources, targets, total="people")
    return told["mean"], told["lower"], told["upper"]


def tobler(sources, targets):
    from tobler.area_weighted import area_interpolate
    told = area_interpolate(sources, targets, extensive_variables=["people"])
    return told["people"]


def pycnophylactic(sources, targets):
    """Tobler's smooth density that keeps the totals, on cells of one unit."""
    from tobler.pycno import pycno_interpolate
    told = pycno_interpolate(sources, targets, ["people"], cellsize=1)
    return told["people"]


METHODS = {
    "quadrat": ("quadrat", quadrat),
    "tobler, by area": ("tobler", tobler),
    "tobler, pycnophylactic": ("tobler", pycnophylactic),
}
