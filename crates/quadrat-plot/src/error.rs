//! What can go wrong when a figure is drawn.

/// A figure could not be turned into pixels.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The scale of a raster image is not usable.
    #[error("a PNG scale of {scale} cannot be drawn; give a number from 0.1 to 10, such as 2")]
    Scale {
        /// The scale asked for.
        scale: f64,
    },
    /// The raster backend refused the scene.
    #[error("the PNG could not be written: {reason}; an SVG of the same figure may work")]
    Raster {
        /// The words of the backend.
        reason: String,
    },
}

/// A map cannot be made of what was given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// There is nothing to draw.
    #[error("a map needs at least one region")]
    NoRegions,
    /// There is nothing to tell of the regions.
    #[error("a map needs at least one panel with values")]
    NoPanels,
    /// A list does not match the regions.
    #[error("\"{what}\" has {got} values for {expected} region{}; give one for each region, none where it is missing", if *expected == 1 { "" } else { "s" })]
    Length {
        /// Title of the panel or name of the tooltip line.
        what: String,
        /// Number of regions.
        expected: usize,
        /// Length of the list.
        got: usize,
    },
    /// A region without geometry.
    #[error(
        "region \"{region}\" has a part without a ring, or no part; give its polygons or leave it out"
    )]
    NoRing {
        /// Name of the region.
        region: String,
    },
    /// A ring that encloses nothing.
    #[error(
        "region \"{region}\", part {part}, ring {ring}: {different} different vertices enclose nothing; give three or more, or leave the ring out"
    )]
    Ring {
        /// Name of the region.
        region: String,
        /// Polygon of the region, from 0.
        part: usize,
        /// Ring of the polygon, from 0 (the outer one).
        ring: usize,
        /// Different vertices of the ring.
        different: usize,
    },
    /// A vertex that lies nowhere.
    #[error(
        "region \"{region}\", part {part}, ring {ring}: the vertex ({x}, {y}) is not finite; mend the geometry"
    )]
    Coordinate {
        /// Name of the region.
        region: String,
        /// Polygon of the region, from 0.
        part: usize,
        /// Ring of the polygon, from 0 (the outer one).
        ring: usize,
        /// First coordinate.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// A latitude beyond a pole.
    #[error(
        "region \"{region}\" has a vertex at latitude {latitude}; latitudes lie within 90 degrees of the equator: swap longitude and latitude, or draw projected coordinates as planar"
    )]
    Latitude {
        /// Name of the region.
        region: String,
        /// The latitude, in degrees.
        latitude: f64,
    },
    /// Regions on a line, or on a sheet without end.
    #[error(
        "the regions span {wide} by {high} units, which no sheet shows; both sides must be positive and finite"
    )]
    Extent {
        /// Units along x.
        wide: f64,
        /// Units along y.
        high: f64,
    },
    /// A value without a colour.
    #[error(
        "\"{panel}\" has the value {value} for region \"{region}\", which is not {wanted}; a missing value is none"
    )]
    Value {
        /// Title of the panel.
        panel: String,
        /// Name of the region.
        region: String,
        /// The value.
        value: f64,
        /// What it should be.
        wanted: &'static str,
    },
    /// A colour scale without a length.
    #[error(
        "\"{panel}\" has a colour scale from {low} to {high}; give two finite ends, the lower first, both positive for a logarithmic scale"
    )]
    Domain {
        /// Title of the panel.
        panel: String,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// A diverging scale without a middle.
    #[error(
        "\"{panel}\" has diverging colours around {centre}; give a finite centre, such as 0 or 1, and a positive one for a logarithmic scale"
    )]
    Centre {
        /// Title of the panel.
        panel: String,
        /// The centre.
        centre: f64,
    },
}
