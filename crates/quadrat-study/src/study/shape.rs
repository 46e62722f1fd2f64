//! Supports that are no box: regions from a GeoJSON file, bags of points from a table.

use std::ops::Range;

use super::fields::{Section, Spanned, kind, text};

/// A region or a bag.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Polygons.
    Region(RegionKeys),
    /// Weighted points.
    Bag(BagKeys),
}

/// The keys of `region`.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionKeys {
    /// The GeoJSON file, relative to the study; absent when the table itself is one.
    pub file: Option<Spanned<String>>,
    /// The column of the table and the property that it is looked up in.
    pub key: Option<Spanned<String>>,
    /// The dimensions of the first and second coordinate.
    pub dims: Vec<Spanned<String>>,
    /// Whether the numbers are taken as they are.
    pub planar: bool,
    /// Whether features without a geometry are left out, with the rows that look at them.
    pub skips: bool,
    /// Where it is described.
    pub span: Range<usize>,
}

/// The keys of `bag`.
#[derive(Debug, Clone, PartialEq)]
pub struct BagKeys {
    /// The table of points, relative to the study.
    pub file: Spanned<String>,
    /// The column, in both tables, that says which bag.
    pub key: Spanned<String>,
    /// Columns of the points' coordinates.
    pub dims: Vec<Spanned<String>>,
    /// Column of the weights; 1 each when absent.
    pub weight: Option<Spanned<String>>,
    /// Whether coordinates that are missing are the mean of those of the bag.
    pub fills: bool,
    /// Whether bags without any weight are left out, with the rows that look at them.
    pub skips: bool,
    /// Where it is described.
    pub span: Range<usize>,
}

impl RegionKeys {
    /// The property that people know the regions by.
    pub fn name(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.value.as_str())
    }
}

impl Shape {
    /// The dimensions it extends over.
    pub fn dims(&self) -> &[Spanned<String>] {
        match self {
            Self::Region(region) => &region.dims,
            Self::Bag(bag) => &bag.dims,
        }
    }

    /// The file of the shapes, when it is named.
    pub fn file(&self) -> Option<&Spanned<String>> {
        match self {
            Self::Region(region) => region.file.as_ref(),
            Self::Bag(bag) => Some(&bag.file),
        }
    }
}

const REGION: &str =
    "`region = { file = \"districts.geojson\", key = \"id\", dims = [\"lon\", \"lat\"] }`";
const BAG: &str = "`bag = { file = \"pixels.csv\", key = \"district\", dims = [\"x\", \"y\"], weight = \"population\" }`";

/// The keys `region` and `bag` of a support.
pub fn read(section: &Section<'_>) -> Option<Shape> {
    match (section.get("region"), section.get("bag")) {
        (Some(item), None) => {
            let region = Section::from_item(section.check, "region", item, REGION)?;
            read_region(&region).map(Shape::Region)
        }
        (None, Some(item)) => {
            let bag = Section::from_item(section.check, "bag", item, BAG)?;
            read_bag(&bag).map(Shape::Bag)
        }
        (Some(_), Some(_)) => {
            section.check.refuse(
                &section.span_of("bag"),
                "`support` has both a `region` and a `bag`",
                "keep one of them",
            );
            None
        }
        (None, None) => None,
    }
}

fn read_region(section: &Section<'_>) -> Option<RegionKeys> {
    section.keys(&["file", "key", "dims", "planar", "empty"], &[]);
    let skips = section.word("empty", &["skip"], &[]).is_some();
    let dims = dims(section, REGION)?;
    if dims.len() != 2 {
        let message = format!("a region extends over two dimensions, not {}", dims.len());
        section.check.refuse(
            &section.span_of("dims"),
            message,
            "name those of the first and of the second coordinate: `dims = [\"lon\", \"lat\"]`; further dimensions go to `point` or `box`",
        );
        return None;
    }
    Some(RegionKeys {
        file: section.text("file"),
        key: section.text("key"),
        dims,
        planar: section.flag("planar").unwrap_or(false),
        skips,
        span: section.span.clone(),
    })
}

fn read_bag(section: &Section<'_>) -> Option<BagKeys> {
    section.keys(&["file", "key", "dims", "weight", "missing", "empty"], &[]);
    for key in ["file", "key"] {
        if section.get(key).is_none() {
            section.missing(key, &format!("write {BAG}"));
        }
    }
    let (file, key) = (section.text("file"), section.text("key"));
    let weight = section.text("weight");
    let fills = section.word("missing", &["mean"], &[]).is_some();
    let skips = section.word("empty", &["skip"], &[]).is_some();
    let dims = dims(section, BAG)?;
    Some(BagKeys {
        file: file?,
        key: key?,
        dims,
        weight,
        fills,
        skips,
        span: section.span.clone(),
    })
}

fn dims(section: &Section<'_>, like: &str) -> Option<Vec<Spanned<String>>> {
    let Some(item) = section.get("dims") else {
        section.missing("dims", &format!("write {like}"));
        return None;
    };
    let span = section.span_of("dims");
    let Some(array) = item.as_array().filter(|array| !array.is_empty()) else {
        let message = match item.as_array() {
            Some(_) => "`dims` names no dimension".to_owned(),
            None => format!("`dims` must be an array of dimensions, not {}", kind(item)),
        };
        section
            .check
            .refuse(&span, message, format!("write {like}"));
        return None;
    };
    let mut dims: Vec<Spanned<String>> = Vec::new();
    for value in array {
        let item = toml_edit::Item::Value(value.clone());
        let mut name = text(section.check, "a dimension in `dims`", &item)?;
        name.span = value.span().unwrap_or_else(|| span.clone());
        if dims.iter().any(|dim| dim.value == name.value) {
            let message = format!("dimension `{}` is given twice", name.value);
            section
                .check
                .refuse(&name.span, message, "name each dimension once");
            return None;
        }
        dims.push(name);
    }
    Some(dims)
}
