#!/usr/bin/env python3
"""Makes the tables of this example from the counties of North Carolina; needs nothing but Python 3.

usage: make.py nc_sids.geojson

nc_sids.geojson is shape/nc.shp of the Debian package r-cran-sf 1.0-9, converted to longitude and latitude (WGS 84).
  all-counties.geojson  the 100 counties: fips, name, and the number of their group
  truth.csv         the births of 1974-78 by county, which the model never sees
  groups.geojson    the counties merged into groups of neighbours, with the sum of the births: what is observed
  squares.geojson   squares of 6 km around Raleigh and Durham, which nobody tabulated
"""

import collections
import csv
import json
import math
import sys

GROUPS = 33
# South-west corner of the blocks, their side in kilometres, and how many there are each way.
CORNER, SIDE, ACROSS, UP = (-79.05, 35.63), 6.0, 8, 8
KM_PER_DEGREE = 111.19


def polygons(feature):
    shape = feature["geometry"]
    found = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
    return [[[(round(x, 5), round(y, 5)) for x, y, *_ in ring] for ring in polygon] for polygon in found]


def edges(parts):
    return [edge for polygon in parts for ring in polygon for edge in zip(ring, ring[1:])]


def neighbours(shapes):
    """Counties that share an edge."""
    owners = collections.defaultdict(set)
    for i, parts in enumerate(shapes):
        for a, b in edges(parts):
            owners[min(a, b), max(a, b)].add(i)
    near = collections.defaultdict(set)
    for pair in owners.values():
        for i in pair:
            near[i] |= pair - {i}
    return near


def grouped(near, count):
    """Merges the smallest group with its smallest neighbour until `count` are left; ties go to the first county."""
    groups = {i: {i} for i in range(len(near))}
    while len(groups) > count:
        order = sorted(groups, key=lambda g: (len(groups[g]), g))
        beside = set().union(*(near[i] for i in groups[order[0]]))
        into = next(g for g in order[1:] if groups[g] & beside)
        groups[into] |= groups.pop(order[0])
    return sorted(groups.values(), key=min)


def signed_area(ring):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:])) / 2


def inside(point, ring):
    x, y = point
    crossed = [a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) > x for a, b in zip(ring, ring[1:]) if (a[1] > y) != (b[1] > y)]
    return sum(crossed) % 2 == 1


def outline(parts):
    """The union of polygons without common interior: edges that are walked both ways cancel, the others are joined to rings."""
    parts = [[ring if (signed_area(ring) > 0) == (k == 0) else ring[::-1] for k, ring in enumerate(polygon)] for polygon in parts]
    left = set(edges(parts))
    left = {(a, b) for a, b in left if (b, a) not in left}
    onward = collections.defaultdict(list)
    for a, b in sorted(left):
        onward[a].append(b)
    rings = []
    while onward:
        ring = [min(onward)]
        while len(ring) == 1 or ring[-1] != ring[0]:
            at = ring[-1]
            ends = onward[at]
            # Where outlines touch, the sharpest turn to the left keeps them apart.
            back = math.atan2(ring[-2][1] - at[1], ring[-2][0] - at[0]) if len(ring) > 1 else 0.0
            turn = lambda b: (math.atan2(b[1] - at[1], b[0] - at[0]) - back) % (2 * math.pi)
            ring.append(ends.pop(ends.index(min(ends, key=turn)) if len(ring) > 1 else 0))
            if not ends:
                del onward[at]
        rings.append(ring)
    outer = [[ring] for ring in rings if signed_area(ring) > 0]
    for hole in (ring for ring in rings if signed_area(ring) < 0):
        min((p for p in outer if inside(hole[0], p[0])), key=lambda p: signed_area(p[0])).append(hole)
    return outer


def write(name, features):
    text = ",\n".join(json.dumps(feature, separators=(",", ":")) for feature in features)
    with open(name, "w", encoding="utf-8", newline="\n") as file:
        file.write('{"type":"FeatureCollection","features":[\n' + text + "\n]}\n")


def feature(properties, parts):
    kind = ("Polygon", parts[0]) if len(parts) == 1 else ("MultiPolygon", parts)
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind[0], "coordinates": kind[1]}}


def block(column, row):
    """A square on the ground, to a metre or so."""
    y0 = CORNER[1] + row * SIDE / KM_PER_DEGREE
    y1 = y0 + SIDE / KM_PER_DEGREE
    middle = CORNER[1] + UP * SIDE / KM_PER_DEGREE / 2
    wide = SIDE / KM_PER_DEGREE / math.cos(math.radians(middle))
    x0 = CORNER[0] + column * wide
    ring = [(x0, y0), (x0 + wide, y0), (x0 + wide, y1), (x0, y1), (x0, y0)]
    return [[[(round(x, 5), round(y, 5)) for x, y in ring]]]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        counties = json.load(file)["features"]
    counties.sort(key=lambda county: county["properties"]["FIPS"])
    shapes = [polygons(county) for county in counties]
    births = [int(county["properties"]["BIR74"]) for county in counties]
    groups = grouped(neighbours(shapes), GROUPS)
    group_of = {i: g for g, members in enumerate(groups, 1) for i in members}
    write("all-counties.geojson", [
        feature({"fips": county["properties"]["FIPS"], "name": county["properties"]["NAME"], "group": group_of[i]}, shapes[i])
        for i, county in enumerate(counties)
    ])
    with open("truth.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["fips", "name", "births"])
        table.writerows([county["properties"]["FIPS"], county["properties"]["NAME"], births[i]] for i, county in enumerate(counties))
    write("groups.geojson", [
        feature(
            {"group": g, "counties": len(members), "births": sum(births[i] for i in members)},
            outline([polygon for i in sorted(members) for polygon in shapes[i]]),
        )
        for g, members in enumerate(groups, 1)
    ])
    write("squares.geojson", [
        feature({"block": "ABCDEFGHIJ"[UP - 1 - row] + str(column + 1)}, block(column, row)) for row in reversed(range(UP)) for column in range(ACROSS)
    ])


if __name__ == "__main__":
    main()
