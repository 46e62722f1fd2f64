#!/usr/bin/env python3
"""Makes the table of this example from the Bikeshare data of the Python package ISLP.

usage: make.py BIKESHARE.csv      (writes summer.csv beside this file)
"""

import csv
import pathlib
import sys

MONTHS = ("June", "July", "Aug")

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["mnth"] in MONTHS]
with open(pathlib.Path(__file__).with_name("summer.csv"), "w", encoding="utf-8", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["hour", "bicycles"])
    table.writerows([row["hr"], row["bikers"]] for row in rows)
