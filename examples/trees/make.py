#!/usr/bin/env python3
"""Makes the tables of this example from the trees and the terrain of the plot; needs nothing but Python 3.

usage: make.py BEI_TREES.csv BEI_COVARIATES.csv

The first has the columns x_m, y_m: places of 3,604 trees on a plot of 1000 m by 500 m. The second has x_m, y_m, elev (m), grad (slope) on a
grid of 5 m. Both are `bei` of the Debian package r-cran-spatstat.data 3.0-0-1, licence GPL (>= 2).
  pixels.csv  5,000 pixels of 10 m: their plot, their cell, the middle, elevation (m) and slope (%) there, and the area
  plots.csv   the trees in each of 50 square plots of one hectare: what was counted
  truth.csv   the trees in each of 1,250 cells of 20 m, and an equal share of its plot's count; the model sees neither
"""

import collections
import csv
import sys

PIXEL, CELL, PLOT = 10, 20, 100


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def plot(x, y):
    """A letter from west to east and a number from south to north."""
    return f"{chr(ord('A') + int(x // PLOT))}{int(y // PLOT) + 1}"


def cell(x, y):
    """The south-western corner."""
    return f"{int(x // CELL) * CELL}-{int(y // CELL) * CELL}"


def main():
    trees = [(row["x_m"], row["y_m"]) for row in table(sys.argv[1])]
    terrain = {(row["x_m"], row["y_m"]): row for row in table(sys.argv[2])}
    middles = [(x + PIXEL / 2, y + PIXEL / 2) for x in range(0, 1000, PIXEL) for y in range(0, 500, PIXEL)]

    def pixel(x, y):
        at = terrain[x, y]
        return plot(x, y), cell(x, y), int(x), int(y), f"{at['elev']:.1f}", f"{100 * at['grad']:.1f}", PIXEL**2 / 10_000

    write("pixels.csv", ["plot", "cell", "x", "y", "elevation", "slope", "hectares"], [pixel(x, y) for x, y in middles])
    in_plots = collections.Counter(plot(x, y) for x, y in trees)
    in_cells = collections.Counter(cell(x, y) for x, y in trees)
    plots = dict.fromkeys(plot(x, y) for x, y in middles)
    write("plots.csv", ["plot", "trees"], [(name, in_plots[name]) for name in plots])
    cells = {cell(x, y): plot(x, y) for x, y in middles}
    share = CELL**2 / PLOT**2
    write("truth.csv", ["cell", "trees", "share"], [(name, in_cells[name], round(share * in_plots[of], 2)) for name, of in cells.items()])


main()
