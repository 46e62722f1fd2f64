#!/usr/bin/env python3
"""Opens reports in a headless browser and checks that they are drawn, quiet, and ask the network for nothing.

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
  // Shapes with a size; axes do not count.
  function marks(svg) {
    const scope = svg.querySelector(".role-axis") ? ".role-mark path, .role-mark line, .role-mark text" : "path, rect, circle, line, text";
    return [...svg.querySelectorAll(scope)].filter((e) => {
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
        found += [f"{name}: {words}" for words in visible(state) + complaints(page.events(), address)]
        page.close()
    if path.stat().st_size > 0 and not found:
        count = len(state["figures"])
        print(f"{path.name}: {count} figure{'s' * (count != 1)} drawn, quiet, nothing requested")
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
