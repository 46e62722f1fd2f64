#!/usr/bin/env python3
"""Makes the tables of this example from the counties of North Carolina; needs nothing but Python 3.

usage: make.py NC_SIDS.geojson

Every county becomes a point: the centroid of its largest polygon, in kilometres east and north of the middle of the state.
Counts below five are written `<5`, as offices of statistics do.
"""

import csv
import json
import math
import sys

LIMIT = 5
MIDDLE = (-79.4, 35.6)
KM = 111.32


def centroid(ring):
    area = x = y = 0.0
    for (x0, y0), (x1, y1) in zip(ring, ring[1:]):
        cross = x0 * y1 - x1 * y0
        area, x, y = area + cross / 2, x + (x0 + x1) * cross / 6, y + (y0 + y1) * cross / 6
    return abs(area), x / area, y / area


def place(geometry):
    polygons = geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
    _, lon, lat = max(centroid(polygon[0]) for polygon in polygons)
    east = (lon - MIDDLE[0]) * KM * math.cos(math.radians(MIDDLE[1]))
    return round(east, 1), round((lat - MIDDLE[1]) * KM, 1)


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        features = json.load(file)["features"]
    counties = []
    for feature in features:
        own = feature["properties"]
        counties.append((own["NAME"], *place(feature["geometry"]), round(own["BIR74"]), round(own["SID74"])))
    counties.sort()
    shown = [(*county[:4], f"<{LIMIT}" if county[4] < LIMIT else county[4]) for county in counties]
    write("published.csv", ["county", "x", "y", "births", "deaths"], shown)
    write("truth.csv", ["county", "x", "y", "births", "deaths"], counties)


main()
