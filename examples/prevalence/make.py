#!/usr/bin/env python3
"""Simulates the tables of this example; needs nothing but Python 3 and gives the same tables every time.

usage: make.py

A country of 100 km by 100 km with a village every 5 km: 400 villages. People: log-normal about three towns. The log of
the odds of being infected: -1.6, a river (1.8 where x = 30 + 0.4 y, falling off within 14 km), hills (-1.2 about (80, 75),
25 km) and waves of 40 km. 24 districts: the nearest of as many seats. In 17 districts 20 to 180 people, drawn among all who
live there, were tested; in 7 nobody was. Six clinics tested 30 to 60 people of the village where they stand.
"""

import csv
import math
import random

SIDE, STEP, DISTRICTS, SURVEYED = 100, 5, 24, 17
TOWNS = [(25, 30), (62, 55), (40, 82)]


def risk(x, y):
    river = 1.8 * math.exp(-0.5 * ((x - 30 - 0.4 * y) / 14) ** 2)
    hills = -1.2 * math.exp(-0.5 * ((x - 80) ** 2 + (y - 75) ** 2) / 25**2)
    waves = 0.5 * math.sin(2 * math.pi * x / 40) * math.cos(2 * math.pi * y / 40)
    return 1 / (1 + math.exp(1.6 - river - hills - waves))


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def main():
    rng = random.Random(7)
    seats = []
    while len(seats) < DISTRICTS:
        seat = (rng.uniform(4, 96), rng.uniform(4, 96))
        if all(math.dist(seat, other) > 13 for other in seats):
            seats.append(seat)
    seats.sort(key=lambda s: (s[1] // 25, s[0]))
    villages = []
    for i in range(SIDE // STEP):
        for j in range(SIDE // STEP):
            x, y = STEP * (i + 0.5), STEP * (j + 0.5)
            near = sum(math.exp(-math.dist((x, y), town) / 12) for town in TOWNS)
            people = round(rng.lognormvariate(math.log(300 + 9000 * near), 0.4))
            district = min(range(DISTRICTS), key=lambda d: math.dist((x, y), seats[d]))
            villages.append((f"D{district + 1:02}", x, y, people))
    names = [f"D{d + 1:02}" for d in range(DISTRICTS)]
    tables, truth = [], []
    asked = sorted(rng.sample(names, SURVEYED))
    for name in names:
        own = [v for v in villages if v[0] == name]
        people = sum(v[3] for v in own)
        share = sum(v[3] * risk(v[1], v[2]) for v in own) / people
        truth.append((name, round(share, 4), round(share * people)))
        if name in asked:
            tested = rng.randint(20, 180)
            drawn = rng.choices(own, [v[3] for v in own], k=tested)
            tables.append((name, tested, sum(rng.random() < risk(v[1], v[2]) for v in drawn)))
    clinics = []
    for _, x, y, _ in rng.sample(villages, 6):
        tested = rng.randint(30, 60)
        clinics.append((x, y, tested, sum(rng.random() < risk(x, y) for _ in range(tested))))
    write("villages.csv", ["district", "x", "y", "people"], villages)
    write("surveys.csv", ["district", "tested", "infected"], tables)
    write("clinics.csv", ["x", "y", "tested", "infected"], clinics)
    write("truth.csv", ["district", "prevalence", "infected"], truth)


main()
