//! Supports as numbers: one entry per row and dimension, with the headers they are written under.

use std::sync::Arc;

use crate::codes::Codes;
use crate::geographic::Geographic;
use crate::grid::Axis;
use crate::kept::{among, retain};
use crate::shapes::{Kind, Shapes};
use crate::study::fields::Spanned;
use crate::study::support::{Aggregate, Extent, Support};

/// Where each row looks.
#[derive(Debug, Clone)]
pub struct Places {
    rows: usize,
    /// The region or bag of each row, over further dimensions.
    pub shapes: Option<Shapes>,
    /// One per dimension that is a point or has edges, all of one length.
    pub dims: Vec<Along>,
    /// Sum or average over what has a width; `None` for points.
    pub aggregate: Option<Aggregate>,
    /// What the numbers of two dimensions mean, when they are longitude and latitude.
    pub geographic: Option<Arc<Geographic>>,
    /// The output of all rows, where there are several.
    pub output: Option<String>,
    /// Of rows to be predicted: what rates are multiplied by, or the numbers of trials.
    pub amounts: Option<Amounts>,
    /// Of rows to be predicted: what stands beside their places, such as names.
    pub labels: Vec<Labels>,
}

/// A column of a table that is copied into the answer as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// Its name.
    pub header: String,
    /// Its cells, row by row.
    pub cells: Vec<String>,
}

/// What means are multiplied by, row by row.
#[derive(Debug, Clone, PartialEq)]
pub enum Amounts {
    /// Exposures of counts.
    Exposure(Vec<f64>),
    /// Numbers of trials.
    Trials(Vec<f64>),
}

impl Amounts {
    /// One for each row.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Exposure(all) | Self::Trials(all) => all,
        }
    }

    fn retain(&mut self, keep: &[bool]) {
        match self {
            Self::Exposure(all) | Self::Trials(all) => retain(all, keep),
        }
    }
}

/// Where each row looks along one dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Along {
    /// The dimension as the kernel names it.
    pub name: String,
    /// Headers of its columns: one for points, two for edges.
    pub headers: Vec<String>,
    /// The coordinate, or one edge, as given.
    pub first: Vec<f64>,
    /// The other edge, as given; `None` for points.
    pub second: Option<Vec<f64>>,
    /// The labels that the coordinates stand for, where they do.
    pub labels: Option<Arc<[String]>>,
}

impl Along {
    /// Lower and upper end of a row; equal for points.
    pub fn ends(&self, row: usize) -> (f64, f64) {
        let first = self.first[row];
        let second = self.second.as_ref().map_or(first, |second| second[row]);
        (first.min(second), first.max(second))
    }

    /// The label of a row, where the dimension holds labels.
    pub fn label(&self, row: usize) -> Option<&str> {
        let labels = self.labels.as_ref()?;
        labels.get(self.first[row] as usize).map(String::as_str)
    }

    /// Where a row is, for messages: its label, or its middle.
    pub fn told(&self, row: usize) -> String {
        let label = self.label(row).map(str::to_owned);
        label.unwrap_or_else(|| self.middle(row).to_string())
    }

    /// Keeps the rows that `keep` says.
    pub fn retain(&mut self, keep: &[bool]) {
        retain(&mut self.first, keep);
        if let Some(second) = &mut self.second {
            retain(second, keep);
        }
    }

    /// Middle of a row.
    pub fn middle(&self, row: usize) -> f64 {
        let (lower, upper) = self.ends(row);
        lower + (upper - lower) / 2.0
    }
}

impl Places {
    /// Places from columns read for a support: for each dimension one or two, in order.
    pub fn from_columns(
        support: &Support,
        columns: Vec<Vec<f64>>,
        shapes: Option<Shapes>,
        geographic: Option<Arc<Geographic>>,
    ) -> Self {
        let rows = match (&shapes, columns.first()) {
            (Some(shapes), _) => shapes.of_row.len(),
            (None, first) => first.map_or(0, Vec::len),
        };
        let mut columns = columns.into_iter();
        let mut next = || columns.next().unwrap_or_default();
        let along = |dim: &crate::study::support::Dim| match &dim.extent {
            Extent::Point => Along {
                name: dim.name.value.clone(),
                headers: vec![dim.name.value.clone()],
                first: next(),
                second: None,
                labels: None,
            },
            Extent::Edges(a, b) => Along {
                name: dim.name.value.clone(),
                headers: vec![
                    a.header(&dim.name.value, "lower"),
                    b.header(&dim.name.value, "upper"),
                ],
                first: next(),
                second: Some(next()),
                labels: None,
            },
        };
        Self {
            rows,
            dims: support.dims.iter().map(along).collect(),
            aggregate: support.aggregate,
            shapes,
            geographic,
            output: None,
            amounts: None,
            labels: Vec::new(),
        }
    }

    /// Gives dimensions that hold labels their texts; coordinates are codes already.
    pub fn name_labels(&mut self, codes: &Codes) {
        for dim in &mut self.dims {
            dim.labels = codes.labels(&dim.name);
        }
    }

    /// The same where coordinates are the labels themselves, as in a grid over years.
    pub fn take_for_labels(&mut self, codes: &mut Codes) {
        for dim in &mut self.dims {
            if !codes.holds(&dim.name) {
                continue;
            }
            for x in &mut dim.first {
                *x = codes.code(&dim.name, &x.to_string());
            }
        }
        self.name_labels(codes);
    }

    /// The dimensions that stand beside the key of regions or bags: not labels that are that key.
    pub fn shown(&self) -> impl Iterator<Item = &Along> {
        let key = self.shapes.as_ref().map(|shapes| &shapes.header);
        let is_key = move |dim: &&Along| dim.labels.is_some() && Some(&dim.name) == key;
        self.dims.iter().filter(move |dim| !is_key(dim))
    }

    /// A row's key and the middle of its place, for messages.
    pub fn describe(&self, row: usize) -> String {
        let key = self.shapes.iter();
        let key = key.map(|shapes| format!("{} = {}", shapes.header, shapes.keys[row]));
        let along = self.shown();
        let along = along.map(|dim| format!("{} = {}", dim.name, dim.told(row)));
        key.chain(along).collect::<Vec<String>>().join(", ")
    }

    /// Every combination of the axes, the last one running fastest.
    pub fn grid(
        axes: &[(Spanned<String>, Axis)],
        aggregate: Option<Aggregate>,
        geographic: Option<Arc<Geographic>>,
    ) -> Self {
        let total: usize = axes.iter().map(|(_, axis)| axis.len).product();
        let mut inner = total;
        let mut dims = Vec::with_capacity(axes.len());
        for (name, axis) in axes {
            inner /= axis.len.max(1);
            let ends = |row: usize| axis.ends(row / inner % axis.len);
            let name = name.value.clone();
            dims.push(if axis.cells {
                Along {
                    headers: vec![format!("{name}_lower"), format!("{name}_upper")],
                    first: (0..total).map(|row| ends(row).0).collect(),
                    second: Some((0..total).map(|row| ends(row).1).collect()),
                    labels: None,
                    name,
                }
            } else {
                Along {
                    headers: vec![name.clone()],
                    first: (0..total).map(|row| ends(row).0).collect(),
                    second: None,
                    labels: None,
                    name,
                }
            });
        }
        Self {
            rows: if axes.is_empty() { 0 } else { total },
            shapes: None,
            dims,
            aggregate,
            geographic,
            output: None,
            amounts: None,
            labels: Vec::new(),
        }
    }

    /// Sums that look at many places: rows that are told by their labels alone.
    pub fn named(rows: usize, labels: Vec<Labels>) -> Self {
        Self {
            rows,
            shapes: None,
            dims: Vec::new(),
            aggregate: None,
            geographic: None,
            output: None,
            amounts: None,
            labels,
        }
    }

    /// Points with these coordinates.
    pub fn points(columns: &[(&str, &[f64])]) -> Self {
        let along = |(name, values): &(&str, &[f64])| Along {
            name: (*name).to_owned(),
            headers: vec![(*name).to_owned()],
            first: values.to_vec(),
            second: None,
            labels: None,
        };
        Self {
            rows: columns.first().map_or(0, |(_, values)| values.len()),
            shapes: None,
            dims: columns.iter().map(along).collect(),
            aggregate: None,
            geographic: None,
            output: None,
            amounts: None,
            labels: Vec::new(),
        }
    }

    /// Number of rows.
    #[allow(clippy::len_without_is_empty)] // Nobody asks.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// The names of all inputs, in the order that [`crate::engine`] hands them on: those of the
    /// shapes, longitude and latitude, the others.
    pub fn inputs(&self) -> Vec<String> {
        let shapes = self.shapes.iter().flat_map(|shapes| shapes.dims.clone());
        let along = self.order().into_iter().map(|d| self.dims[d].name.clone());
        shapes.chain(along).collect()
    }

    /// Positions in `dims`: longitude and latitude first, when they are there.
    pub fn order(&self) -> Vec<usize> {
        let pair = self.pair().map_or(Vec::new(), |(lon, lat)| vec![lon, lat]);
        let others = (0..self.dims.len()).filter(|d| !pair.contains(d));
        pair.iter().copied().chain(others).collect()
    }

    /// Positions of longitude and latitude in `dims`.
    pub fn pair(&self) -> Option<(usize, usize)> {
        let [lon, lat] = &self.geographic.as_ref()?.dims;
        let find = |name: &String| self.dims.iter().position(|dim| &dim.name == name);
        Some((find(lon)?, find(lat)?))
    }

    /// What a total is divided by to be a density: the size of what has a width, 1 for averages
    /// and points; times an exposure or a number of trials.
    pub fn volume(&self, row: usize) -> f64 {
        let amount = self.amounts.as_ref().map_or(1.0, |all| all.values()[row]);
        amount * self.size(row)
    }

    fn size(&self, row: usize) -> f64 {
        if self.aggregate != Some(Aggregate::Sum) {
            return 1.0;
        }
        let mut volume = self.shapes.as_ref().map_or(1.0, |shapes| shapes.size(row));
        let area = self.pair().and_then(|(lon, lat)| {
            let (lon, lat) = (&self.dims[lon], &self.dims[lat]);
            lon.second.as_ref()?;
            let cell = self.geographic.as_ref()?.cell(lon.ends(row), lat.ends(row));
            Some(cell.ok()?.area())
        });
        let pair = self.pair().filter(|_| area.is_some());
        for (d, dim) in self.dims.iter().enumerate() {
            if dim.second.is_some() && pair.is_none_or(|(lon, lat)| d != lon && d != lat) {
                let (lower, upper) = dim.ends(row);
                volume *= upper - lower;
            }
        }
        volume * area.unwrap_or(1.0)
    }

    /// The unit of [`Self::volume`]: "age", "km² x year".
    pub fn volume_unit(&self) -> String {
        let mut units: Vec<String> = Vec::new();
        if let Some(shapes) = &self.shapes {
            let is_geographic = self
                .geographic
                .as_ref()
                .is_some_and(|g| g.dims[..] == shapes.dims);
            units.push(match &shapes.kind {
                Kind::Bags(bags) => bags.weight.clone().unwrap_or_else(|| "weight".to_owned()),
                Kind::Regions(_) if is_geographic => "km²".to_owned(),
                Kind::Regions(_) => shapes.dims.join(" x "),
            });
        }
        let pair = self.pair();
        for d in self
            .order()
            .into_iter()
            .filter(|&d| self.dims[d].second.is_some())
        {
            match pair {
                Some((lon, _)) if d == lon => units.push("km²".to_owned()),
                Some((_, lat)) if d == lat => {}
                _ => units.push(self.dims[d].name.clone()),
            }
        }
        units.join(" x ")
    }

    /// The dimension of a name.
    pub fn dim(&self, name: &str) -> Option<&Along> {
        self.dims.iter().find(|dim| dim.name == name)
    }

    /// The support of a row as bits, for finding rows that look at the same place.
    pub fn key(&self, row: usize) -> Vec<u64> {
        let bits = |x: f64| (x + 0.0).to_bits();
        self.dims
            .iter()
            .flat_map(|dim| [bits(dim.ends(row).0), bits(dim.ends(row).1)])
            .chain(self.shapes.iter().map(|shapes| shapes.of_row[row] as u64))
            .collect()
    }

    /// Keeps the rows that `keep` says.
    pub fn retain(&mut self, keep: &[bool]) {
        self.rows = (0..self.rows)
            .filter(|&row| keep.get(row).copied().unwrap_or(true))
            .count();
        if let Some(shapes) = &mut self.shapes {
            shapes.retain(keep);
        }
        self.dims.iter_mut().for_each(|dim| dim.retain(keep));
        if let Some(amounts) = &mut self.amounts {
            amounts.retain(keep);
        }
        for labels in &mut self.labels {
            retain(&mut labels.cells, keep);
        }
    }

    /// Keeps these rows, ascending.
    pub fn keep(&mut self, rows: &[usize]) {
        self.retain(&among(rows, self.len()));
    }

    /// Which rows look at something: all but those of bags without any weight. None where all do.
    pub fn of_some_size(&self) -> Option<Vec<usize>> {
        let shapes = self.shapes.as_ref()?;
        let rows: Vec<usize> = (0..self.len())
            .filter(|&row| !shapes.is_empty(row))
            .collect();
        (rows.len() < self.len()).then_some(rows)
    }

    /// Whether the rows are all combinations of distinct places along each dimension.
    pub fn is_complete_grid(&self) -> bool {
        if self.shapes.is_some() {
            return false;
        }
        let mut product = 1usize;
        for dim in &self.dims {
            let mut places: Vec<[u64; 2]> = (0..self.len())
                .map(|row| dim.ends(row))
                .map(|(lower, upper)| [(lower + 0.0).to_bits(), (upper + 0.0).to_bits()])
                .collect();
            places.sort_unstable();
            places.dedup();
            product = product.saturating_mul(places.len());
        }
        let mut keys: Vec<Vec<u64>> = (0..self.len()).map(|row| self.key(row)).collect();
        keys.sort_unstable();
        keys.dedup();
        product == self.len() && keys.len() == self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, to: f64, cells: bool) -> (Spanned<String>, Axis) {
        (
            Spanned {
                value: name.into(),
                span: 0..0,
            },
            Axis::new(0.0, to, 1.0, cells).unwrap(),
        )
    }

    #[test]
    fn a_grid_runs_over_every_combination() {
        let places = Places::grid(
            &[axis("x", 2.0, true), axis("y", 2.0, false)],
            Some(Aggregate::Sum),
            None,
        );
        assert_eq!(places.len(), 6);
        assert_eq!(places.dims[0].first, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        assert_eq!(places.dims[1].first, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
        assert_eq!(places.dims[0].headers, ["x_lower", "x_upper"]);
        assert!(places.is_complete_grid());
    }

    #[test]
    fn a_grid_with_a_hole_or_a_repeat_is_not_complete() {
        let mut places = Places::grid(&[axis("x", 2.0, true), axis("y", 2.0, true)], None, None);
        places.retain(&[true, true, true, false]);
        assert!(!places.is_complete_grid());
        let mut twice = Places::grid(&[axis("x", 2.0, false)], None, None);
        twice.dims[0].first[1] = 0.0;
        assert!(!twice.is_complete_grid());
    }
}
