#!/usr/bin/env python3
"""Makes the tables of this example from the hourly riders of 2011; needs nothing but Python 3.

usage: make.py BIKESHARE.csv      (columns day, hr, casual, registered)

Four working days from Tuesday 13 September 2011 (day 256 of the year). The rule that caps demand is made up: the scheme
lends casual riders at most 30 bicycles in an hour. Where that was reached, the table says `30+`.
"""

import csv
import sys

FIRST, DAYS = 256, 4
STOCK = 30


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        hours = [row for row in csv.DictReader(file) if FIRST <= int(row["day"]) < FIRST + DAYS]
    lent, demand = [], []
    for row in hours:
        hour = 24 * (int(row["day"]) - FIRST) + int(row["hr"])
        for riders in ("casual", "registered"):
            asked = int(row[riders])
            capped = riders == "casual" and asked >= STOCK
            lent.append((hour, riders, f"{STOCK}+" if capped else asked))
            if capped:
                demand.append((hour, riders, asked))
    write("lent.csv", ("hour", "riders", "bicycles"), lent)
    write("truth.csv", ("hour", "output", "bicycles"), demand)


main()
