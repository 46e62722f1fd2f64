#!/usr/bin/env python3
"""Shows that check.py refuses broken reports, each for its own reason, and accepts a good one.

usage: selftest.py [--require]
"""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser as devtools  # noqa: E402
import check  # noqa: E402

GOOD = """<!doctype html><html><head><link rel="icon" href="data:,"></head><body>
<figure data-figure="a"><div class="view"><div class="plot" style="width:200px;height:100px"></div></div></figure>
<script>
const plot = document.querySelector(".plot"), figure = document.querySelector("figure");
plot.innerHTML = '<svg class="marks" width="200" height="100"><g class="role-axis"><path d="M0 0h99"/></g>' +
  '<g class="role-mark"><path d="M9 9h9v9z"/></g></svg>';
figure.dataset.drawn = "true"; document.body.dataset.ready = "true";
//MORE
</script></body></html>"""

# Two linked maps: pointing at a region of one outlines it in both and tells it.
MAP = """<!doctype html><html><head><link rel="icon" href="data:,"></head><body>
<figure data-figure="m" data-linked="true"><div class="views atlas"><div class="view"><div class="plot"></div></div>
<div class="view"><div class="plot"></div></div></div></figure>
<div id="vg-tooltip-element"></div>
<style>.plot { width: 200px; height: 100px } #vg-tooltip-element { visibility: hidden; pointer-events: none }
#vg-tooltip-element.visible { visibility: visible }</style>
<script>
const figure = document.querySelector("figure"), tip = document.querySelector("#vg-tooltip-element");
for (const plot of document.querySelectorAll(".plot")) {
  plot.innerHTML = '<svg class="marks" width="200" height="100"><path class="background" d="M0 0h200v100h-200z" fill="none"/>' +
    '<g class="role-mark"><path class="region" d="M0 0h150v90h-150z" fill="teal"/></g></svg>';
  plot.querySelector(".role-mark").addEventListener("pointermove", () => {
    tip.innerText = "Ashe"; tip.className = "visible";
    for (const region of document.querySelectorAll(".region")) region.setAttribute("stroke", "#000000");
  });
}
figure.dataset.drawn = "true"; document.body.dataset.ready = "true";
</script></body></html>"""

DRAWN = 'figure.dataset.drawn = "true"; document.body.dataset.ready = "true";'
CASES = {
    "a figure that throws": (DRAWN, 'figure.dataset.error = "no such column"; document.body.dataset.error = "no such column";', "no such column"),
    "an exception": ("//MORE", 'throw new Error("broken on purpose");', "exception"),
    "a rejected promise": ("//MORE", 'Promise.reject(new Error("broken later"));', "exception"),
    "a console error": ("//MORE", 'console.error("oh dear");', "console error: oh dear"),
    "a console warning": ("//MORE", 'console.warn("hm");', "console warning: hm"),
    "an external script": ("</head>", '<script src="https://example.org/vega.js"></script></head>', "request: https://example.org"),
    "an external image": ("</body>", '<img src="http://example.org/pixel.png"></body>', "request: http://example.org"),
    "a file beside it": ("</head>", '<link rel="stylesheet" href="style.css"></head>', "style.css"),
    "a late fetch": ("//MORE", 'setTimeout(() => fetch("https://example.org/x").catch(() => 0), 50);', "request: https://example.org"),
    "a websocket": ("//MORE", 'try { new WebSocket("ws://example.org/"); } catch (e) {}', "websocket"),
    "a figure never drawn": (DRAWN, 'document.body.dataset.ready = "true";', "is not drawn"),
    "a page never ready": (DRAWN, 'figure.dataset.drawn = "true";', "never became ready"),
    "axes without data": ('<path d="M9 9h9v9z"/>', "", "nothing to see"),
    "a blank canvas": ("//MORE", 'plot.innerHTML = "<canvas width=200 height=100></canvas>";', "nothing to see"),
    "a squeezed picture": ("width:200px;height:100px", "width:20px;height:100px", "only 20 x 100 px"),
    "a picture without end": ("width:200px;height:100px", "width:200px;height:9000px", "9000 px high"),
    "a page too wide": ("</body>", '<div style="width:3000px;height:9px"></div></body>', "wider than the window"),
}

MAP_CASES = {
    "a map without regions": ('<path class="region" d="M0 0h150v90h-150z" fill="teal"/>', "", "nothing to see"),
    "a map without tooltips": ('tip.className = "visible";', "", "shows no tooltip"),
    "an empty tooltip": ('tip.innerText = "Ashe"', 'tip.innerText = ""', "says nothing"),
    "markup in a tooltip": ('tip.innerText = "Ashe"', 'tip.innerHTML = "<b>Ashe</b>"', "words became markup"),
    "maps that are not linked": ('document.querySelectorAll(".region")', '[document.querySelector(".region")]', "outlined in 1 of 2"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--require", action="store_true", help="fail when there is no browser")
    args = parser.parse_args()
    path = devtools.find()
    if path is None:
        print("no chromium found: the self-test " + ("cannot run" if args.require else "is skipped"))
        return 1 if args.require else 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder, devtools.Browser(path) as browser:
        report = pathlib.Path(folder) / "report.html"
        for page in (GOOD, MAP):
            report.write_text(page, encoding="utf-8")
            found = check.check(browser, report)
            if found:
                failed += 1
                print(f"a good report was refused: {found}", file=sys.stderr)
        cases = [(GOOD, *case) for case in CASES.items()] + [(MAP, *case) for case in MAP_CASES.items()]
        for page, name, (before, after, reason) in cases:
            assert before in page, name
            report.write_text(page.replace(before, after), encoding="utf-8")
            found = check.check(browser, report, patience=1.5)
            if not any(reason in words for words in found):
                failed += 1
                print(f"{name}: accepted, or refused for another reason: {found}", file=sys.stderr)
    total = len(cases) + 2
    print(f"{total - failed} of {total} reports judged rightly")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
