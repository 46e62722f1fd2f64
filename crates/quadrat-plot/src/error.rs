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

/// Marks cannot be made of what was given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MarkError {
    /// A list does not match the others.
    #[error(
        "\"{what}\" has {got} entries where {expected} are needed; give one for each row, or each rank for names"
    )]
    Length {
        /// Name of the list.
        what: &'static str,
        /// Entries needed.
        expected: usize,
        /// Entries given.
        got: usize,
    },
    /// A number that has no place in the figure.
    #[error("{row} has the {what} {value}, which is not {wanted}; mend it or leave the row out")]
    Value {
        /// Name of the row, or its number from 1.
        row: String,
        /// Which number.
        what: &'static str,
        /// The number.
        value: f64,
        /// What it should be.
        wanted: &'static str,
    },
    /// An interval upside down.
    #[error("{row} has the upper end {upper} below the lower end {lower}; swap the two")]
    UpsideDown {
        /// Name of the row, or its number from 1.
        row: String,
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// A stretch of the horizontal axis without a length.
    #[error(
        "{row} lies over the stretch from {lower} to {upper}; give two finite edges, the lower first"
    )]
    Stretch {
        /// Name of the row, or its number from 1.
        row: String,
        /// Lower edge.
        lower: f64,
        /// Upper edge.
        upper: f64,
    },
    /// A rank without a band.
    #[error(
        "{row} has the rank {rank}, but the thresholds tell {ranks} ranks apart, counted from 1"
    )]
    Rank {
        /// Name of the row, or its number from 1.
        row: String,
        /// The rank.
        rank: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// Thresholds that tell nothing apart.
    #[error(
        "the thresholds {thresholds:?} do not increase; give one or more finite numbers in increasing order"
    )]
    Thresholds {
        /// The thresholds.
        thresholds: Vec<f64>,
    },
    /// Rates per nothing.
    #[error(
        "rates per {per} cannot be drawn; give a positive and finite exposure, such as 1 or 100000"
    )]
    Per {
        /// The exposure that rates refer to.
        per: f64,
    },
}
