// Draws every [data-figure] of the page. Says so in data-drawn, or in data-error; body[data-ready] when all are drawn.
(function () {
  "use strict";
  var body = document.body;

  function fail(element, error) {
    var words = String((error && error.message) || error || "unknown error");
    if (element) { element.dataset.error = words; }
    body.dataset.error = words;
    console.error("figure " + (element ? element.dataset.figure : "?") + ": " + words);
  }

  function refuse() { return Promise.reject(new Error("a report loads nothing")); }

  // A loader that never loads: a report is one file.
  function closedLoader() {
    var loader = vega.loader();
    loader.load = refuse; loader.http = refuse; loader.file = refuse;
    return loader;
  }

  function heightOf(view, place) {
    // Without axes, as on a map, nothing but the shape decides.
    var low = view.inset ? 180 : 60, high = view.inset ? 460 : 620;
    return Math.round(Math.max(low, Math.min(high, (place.clientWidth - view.inset) * view.aspect)));
  }

  // Where one unit is as long along both axes: the room that labels leave is known once they are
  // drawn.
  function exact(c) {
    if (!c.view.exact) { return Promise.resolve(); }
    return c.chart.height(Math.round(c.chart.width() * c.view.aspect)).runAsync();
  }

  // The pointer goes through outlines and marked places: one that came under it would end the tooltip of what it lies on.
  function through(marks) {
    (marks || []).forEach(function (mark) {
      if (/^(outline_|marked)/.test(mark.name || "")) { mark.interactive = false; }
      through(mark.marks);
    });
  }

  function embed(view, place, config, datasets) {
    var spec = Object.assign({ width: "container", autosize: { type: "fit-x", contains: "padding" }, config: config }, view.spec);
    // A copy: Vega writes into the rows it is given.
    spec.datasets = JSON.parse(JSON.stringify(datasets));
    if (view.aspect) { spec.height = heightOf(view, place); }
    var options = {
      mode: "vega-lite", renderer: view.renderer, actions: false, ast: true, loader: closedLoader(),
      tooltip: { id: "vg-tooltip-element", disableDefaultStyle: true },
      patch: function (compiled) { through(compiled.marks); return compiled; }
    };
    return vegaEmbed(place, spec, options).then(function (result) {
      var chart = { view: view, place: place, chart: result.view };
      return exact(chart).then(function () { return chart; });
    });
  }

  // What is pointed at, in the form the outline of a view needs: edges of a cell, or number of a region.
  function target(item) {
    var d = item && item.datum;
    if (!d) { return null; }
    if (d.type === "Feature" && d.i !== undefined) { return d.i; }
    return d.x1 !== undefined && d.words !== undefined ? { x0: d.x0, x1: d.x1, y0: d.y0, y1: d.y1 } : null;
  }

  // Pointing at a place in one map outlines it in all of them.
  function link(charts) {
    function show(place) {
      charts.forEach(function (c) { c.chart.signal("here", place).runAsync(); });
    }
    var shown = "null";
    charts.forEach(function (c) {
      c.chart.addEventListener("pointermove", function (event, item) {
        var place = target(item), words = JSON.stringify(place);
        if (place === null || words === shown) { return; }
        shown = words;
        show(place);
      });
      c.place.addEventListener("pointerleave", function () { shown = "null"; show(null); });
    });
  }

  function refit(charts) {
    var width = window.innerWidth, waiting = 0;
    window.addEventListener("resize", function () {
      clearTimeout(waiting);
      waiting = setTimeout(function () {
        if (window.innerWidth === width) { return; }
        width = window.innerWidth;
        charts.forEach(function (c) {
          if (c.view.aspect) { c.chart.height(heightOf(c.view, c.place)).runAsync().then(function () { return exact(c); }); }
        });
      }, 150);
    });
  }

  function draw(element, config) {
    var given = JSON.parse(element.querySelector("script[type='application/json']").textContent);
    var views = given.views;
    var places = element.querySelectorAll(".plot");
    if (views.length !== places.length) { throw new Error("the page has " + places.length + " places for " + views.length + " views"); }
    var started = views.map(function (view, i) { return embed(view, places[i], config, given.datasets); });
    return Promise.all(started).then(function (charts) {
      if (element.dataset.linked === "true") { link(charts); }
      refit(charts);
      element.dataset.drawn = "true";
    });
  }

  // Runs the libraries that draw, which the page holds compressed. Older browsers cannot inflate them.
  function libraries() {
    if (typeof DecompressionStream === "undefined") { return Promise.reject(new Error("this browser is too old for interactive figures")); }
    var packed = Uint8Array.from(atob(document.getElementById("vega").textContent), function (c) { return c.charCodeAt(0); });
    var inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(inflated).text().then(function (code) {
      var script = document.createElement("script");
      script.textContent = code;
      document.head.appendChild(script);
    });
  }

  function drawAll(figures) {
    var config = JSON.parse(document.getElementById("vega-config").textContent);
    var drawn = figures.map(function (element) {
      return Promise.resolve().then(function () { return draw(element, config); })
        .then(function () { return true; }, function (error) { fail(element, error); return false; });
    });
    return Promise.all(drawn).then(function (all) { if (all.every(Boolean)) { body.dataset.ready = "true"; } });
  }

  var figures = Array.prototype.slice.call(document.querySelectorAll("[data-figure]"));
  libraries().then(function () { return drawAll(figures); }).catch(function (error) {
    figures.forEach(function (element) { fail(element, error); });
  });
})();
