#!/usr/bin/env python3
"""Opens reports in a headless browser and checks that they are drawn, answer to pointing, are quiet, and ask the network for nothing.

usage: check.py [--require] [--screenshots DIR] REPORT.html...

Without a browser it says so and succeeds, unless --require is given. Exit status 1 when a report fails.
"""

import argparse
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser as devtools  # noqa: E402

# Every figure, with what can be seen of it. A view counts as drawn when its SVG has marks with a size (axes do not count),
# or when its canvas has more than two colours.
LOOK = r"""
(() => {
  function inked(canvas) {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 3]) seen.add(pixels[i] + "," + pixels[i + 1] + "," + pixels[i + 2]);
      if (seen.size > 2) return true;
    }
    return false;
  }
  // Shapes with a size; axes and the ground of the picture do not count.
  function marks(svg) {
    return [...svg.querySelectorAll(".role-mark path, .role-mark rect, .role-mark circle, .role-mark line, .role-mark text")].filter((e) => {
      const box = e.getBBox();
      return box.width + box.height > 0;
    }).length;
  }
  return {
    ready: document.body.dataset.ready === "true",
    error: document.body.dataset.error || null,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    figures: [...document.querySelectorAll("[data-figure]")].map((figure) => ({
      id: figure.dataset.figure,
      drawn: figure.dataset.drawn === "true",
      error: figure.dataset.error || null,
      views: [...figure.querySelectorAll(".plot")].map((plot) => {
        const box = plot.getBoundingClientRect();
        const canvas = plot.querySelector("canvas"), svg = plot.querySelector("svg.marks");
        return {
          width: box.width, height: box.height, room: plot.parentElement.getBoundingClientRect().width,
          content: canvas ? (inked(canvas) ? "canvas" : null) : svg && marks(svg) >= 1 ? "svg" : null,
        };
      }),
    })),
  };
})()
"""

# Points over marks of the first view of a figure that must answer to pointing, spread over it. None for other figures.
POINTS = r"""
(i) => {
  const figure = document.querySelectorAll("[data-figure]")[i];
  const told = figure.dataset.linked === "true" || figure.dataset.told === "true";
  const plot = told && figure.querySelector(".plot");
  if (!plot) return null;
  plot.scrollIntoView({block: "center"});
  const box = plot.getBoundingClientRect(), canvas = plot.querySelector("canvas"), points = [];
  // A copy made for reading: browsers warn of a page that often reads its canvas, and this page does not.
  const copy = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  if (canvas) {
    [copy.canvas.width, copy.canvas.height] = [canvas.width, canvas.height];
    copy.drawImage(canvas, 0, 0);
  }
  const paper = (x, y) => {
    const own = canvas.getBoundingClientRect(), at = canvas.width / own.width;
    return copy.getImageData((x - own.left) * at, (y - own.top) * at, 1, 1).data[3] === 0;
  };
  for (let k = 0; k < 900; k++) {
    // The golden ratio and its square scatter evenly.
    const x = box.left + box.width * ((k * 0.7548776662) % 1), y = box.top + box.height * ((k * 0.5698402910) % 1);
    const over = document.elementFromPoint(x, y);
    if (canvas ? over === canvas && !paper(x, y) : over && over.closest(".role-mark")) points.push([x, y]);
    if (points.length === 5) break;
  }
  return points;
}
"""

# What pointing shows: the words of the tooltip, and in how many views of a map a region is outlined.
POINTED = r"""
(i) => {
  const figure = document.querySelectorAll("[data-figure]")[i], tip = document.querySelector("#vg-tooltip-element.visible");
  const views = [...figure.querySelectorAll(".atlas svg.marks")];
  const outlined = (svg) => svg.querySelector('.role-mark path[stroke="#000000"]') !== null;
  return {words: tip ? tip.innerText.trim() : null, markup: tip ? tip.querySelector("img, script, b") !== null : false,
          views: views.length, outlined: views.filter(outlined).length};
}
"""


def pointing(browser, page, state):
    """What is wrong with the tooltips and outlines of the figures that must have them."""
    found = []
    for i, figure in enumerate(state["figures"]):
        name = f"figure {figure['id']}"
        points = page.evaluate(f"({POINTS})({i})")
        if points is None:
            continue
        shown = None
        for x, y in points:
            page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
            browser.wait(0.15)
            shown = page.evaluate(f"({POINTED})({i})")
            if shown["words"]:
                break
        if not shown or shown["words"] is None:
            found.append(f"{name}: pointing at {len(points)} marks shows no tooltip")
        elif not shown["words"]:
            found.append(f"{name}: the tooltip says nothing")
        elif shown["markup"]:
            found.append(f"{name}: words became markup in the tooltip")
        elif shown["outlined"] < shown["views"]:
            found.append(f"{name}: pointed at in one map, outlined in {shown['outlined']} of {shown['views']}")
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
    return found


def allowed(url, address):
    """Only the report itself and data inside it."""
    return url.split("#")[0] == address or url.startswith(("data:", "blob:", "about:"))


def complaints(events, address):
    """What the console said and what was asked for that should not have been."""
    found = []
    for event in events:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert", "trace"):
                words = " ".join(str(a.get("value", a.get("description", ""))) for a in params["args"])
                found.append(f"console {params['type']}: {words[:300]}")
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                words = details.get("exception", {}).get("description") or details.get("text", "")
                found.append(f"exception: {words[:300]}")
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                found.append(f"log {params['entry']['level']}: {params['entry']['text'][:300]}")
            case "Network.requestWillBeSent" if not allowed(params["request"]["url"], address):
                found.append(f"request: {params['request']['url'][:200]}")
            case "Network.webSocketCreated":
                found.append(f"websocket: {params['url'][:200]}")
            case "Page.javascriptDialogOpening":
                found.append(f"dialog: {params['message'][:200]}")
    return found


def visible(state):
    """What is not drawn."""
    found = []
    if state["error"]:
        found.append(f"page error: {state['error']}")
    if not state["ready"]:
        found.append("the page never became ready")
    if state["wide"] > 0:
        found.append(f"the page is {state['wide']} px wider than the window")
    for figure in state["figures"]:
        name = f"figure {figure['id']}"
        if figure["error"]:
            found.append(f"{name}: {figure['error']}")
        elif not figure["drawn"]:
            found.append(f"{name} is not drawn")
        for i, view in enumerate(figure["views"]):
            if not view["content"]:
                found.append(f"{name}, view {i}: nothing to see")
            elif view["width"] < 40 or view["height"] < 40:
                found.append(f"{name}, view {i}: only {view['width']:.0f} x {view['height']:.0f} px")
            elif view["height"] > 4 * max(view["room"], 300):
                found.append(f"{name}, view {i}: {view['height']:.0f} px high")
    return found


def check(browser, path, screenshots=None, patience=30.0):
    """Everything wrong with one report: an empty list is a pass."""
    path = pathlib.Path(path).resolve()
    address = path.as_uri()
    found = []
    for name, width, mobile in (("desktop", 1280, False), ("phone", 390, True)):
        page = devtools.Page(browser, width, 900, mobile)
        page.call("Page.navigate", url=address)
        end = time.monotonic() + patience
        state = None
        while time.monotonic() < end:
            browser.wait(0.1)
            if page.evaluate("document.readyState") != "complete" or page.evaluate("location.href") != address:
                continue
            if page.evaluate("!!document.body && (document.body.dataset.ready || document.body.dataset.error || '') !== ''"):
                break
        browser.wait(0.4)
        state = page.evaluate(LOOK)
        if screenshots:
            page.screenshot(os.path.join(screenshots, f"{path.stem}-{name}.png"))
        wrong = visible(state)
        # A finger points at nothing while it does not touch.
        if not mobile and not wrong:
            wrong = pointing(browser, page, state)
        found += [f"{name}: {words}" for words in wrong + complaints(page.events(), address)]
        page.close()
    if path.stat().st_size > 0 and not found:
        count = len(state["figures"])
        name = path.parent.name if path.name == "report.html" else path.name
        print(f"{name}: {count} figure{'s' * (count != 1)} drawn, quiet, nothing requested", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--require", action="store_true", help="fail when there is no browser")
    parser.add_argument("--screenshots", metavar="DIR", help="save the full pages here, 1280 and 390 pixels wide")
    parser.add_argument("reports", nargs="+", metavar="REPORT.html")
    args = parser.parse_args()
    path = devtools.find()
    if path is None:
        print("no chromium found: the browser test " + ("cannot run" if args.require else "is skipped"))
        return 1 if args.require else 0
    if args.screenshots:
        os.makedirs(args.screenshots, exist_ok=True)
    failed = False
    with devtools.Browser(path) as browser:
        for report in args.reports:
            for words in check(browser, report, args.screenshots):
                failed = True
                print(f"{report}: {words}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
