#!/usr/bin/env python3
"""Makes the tables of this example; needs nothing but Python 3.

usage: make.py

Temperatures of a summer day in a range of mountains of 80 by 60 km, simulated: 14.5 degrees at 800 m, 6.1 degrees less
per 1000 m, a smooth field of waves of 1.2 degrees (north and south of the range, valleys and plains), and readings that
are off by 0.4. The 45 stations stand where people live, between 300 and 1300 m; the truth is asked on 25 summits above.
"""

import csv
import math
import random

LAPSE = -0.0061
LEVEL = 14.5


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    rng = random.Random(7)
    waves = []
    for _ in range(30):
        # Wave numbers of a field with a lengthscale of 15 km.
        u, v = rng.gauss(0, 1 / 15), rng.gauss(0, 1 / 15)
        waves.append((u, v, rng.uniform(0, 2 * math.pi)))

    def field(east, north):
        waved = sum(math.cos(u * east + v * north + p) for u, v, p in waves)
        return 1.2 * math.sqrt(2 / len(waves)) * waved

    def temperature(east, north, elevation):
        return LEVEL + LAPSE * (elevation - 800) + field(east, north)

    def place(low, high):
        east, north = round(rng.uniform(0, 80), 1), round(rng.uniform(0, 60), 1)
        return east, north, round(rng.uniform(low, high))

    stations, summits = [], []
    for number in range(1, 46):
        east, north, elevation = place(300, 1300)
        reading = temperature(east, north, elevation) + rng.gauss(0, 0.4)
        stations.append((number, east, north, elevation, f"{reading:.1f}"))
    for number in range(1, 26):
        east, north, elevation = place(1700, 2900)
        summits.append((number, east, north, elevation, f"{temperature(east, north, elevation):.2f}"))
    write("stations.csv", ("station", "east", "north", "elevation", "celsius"), stations)
    write("summits.csv", ("summit", "east", "north", "elevation"), [row[:4] for row in summits])
    write("truth.csv", ("summit", "celsius"), [(row[0], row[4]) for row in summits])


main()
