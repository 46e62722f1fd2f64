"""Squares as GeoJSON."""


def square(x, y, side=1.0):
    ring = [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]
    return {"type": "Polygon", "coordinates": [ring]}


def squares(edges, scale=1.0, **properties):
    """A row of rectangles between edges, of height 1."""
    features = []
    for at, (a, b) in enumerate(zip(edges, edges[1:])):
        ring = [[a, 0], [b, 0], [b, 1], [a, 1], [a, 0]]
        own = {name: column[at] for name, column in properties.items()}
        ring = [[scale * x, scale * y] for x, y in ring]
        features.append({"type": "Feature", "properties": own,
                         "geometry": {"type": "Polygon", "coordinates": [ring]}})
    return {"type": "FeatureCollection", "features": features}
