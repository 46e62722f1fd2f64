//! What reading a study shares: its folder, files that several sections read, and the projection.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::codes::Codes;
use crate::diagnostic::{Problem, Problems, Remedy};
use crate::geo_file::{Bare, GeoFile, Outline, outlines};
use crate::geographic::Geographic;
use crate::shapes::Regions;
use crate::study::fields::{Check, Spanned};
use crate::study::shape::RegionKeys;
use crate::table::{Table, is_geo, open_geo};

/// What was read already; nothing where it was refused.
type Known<K, V> = RefCell<HashMap<K, Option<Arc<V>>>>;

/// Reads tables and regions, each GeoJSON file once.
pub struct Files<'a> {
    /// Where problems go.
    pub check: &'a Check<'a>,
    /// Longitude and latitude, when the study has them.
    pub geographic: Option<Arc<Geographic>>,
    /// The labels that were read so far.
    pub codes: RefCell<Codes>,
    folder: PathBuf,
    shown: PathBuf,
    geo: Known<PathBuf, GeoFile>,
    outlines: Known<(PathBuf, [bool; 2]), Vec<Option<Outline>>>,
    regions: Known<(PathBuf, [bool; 2]), Regions>,
    warnings: RefCell<Vec<String>>,
}

impl<'a> Files<'a> {
    /// Nothing read yet; `folder` is what paths are relative to, people see it as `shown`.
    pub fn new(check: &'a Check<'a>, folder: &Path, shown: &Path) -> Self {
        Self {
            check,
            geographic: None,
            codes: RefCell::default(),
            folder: folder.to_owned(),
            shown: shown.to_owned(),
            geo: RefCell::default(),
            outlines: RefCell::default(),
            regions: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// What reading cells needs: where problems go, and the labels so far.
    pub fn reader(&self) -> (&Check<'a>, &RefCell<Codes>) {
        (self.check, &self.codes)
    }

    /// Notes what people should know.
    pub fn warn(&self, warning: String) {
        self.warnings.borrow_mut().push(warning);
    }

    /// What people should know.
    pub fn warnings(self) -> Vec<String> {
        self.warnings.into_inner()
    }

    /// A table.
    pub fn table(&self, file: &Spanned<String>) -> Option<Table> {
        let path = self.folder.join(&file.value);
        if is_geo(&path) {
            return self.geo(file).map(Table::from_geo);
        }
        Table::open(&path, &self.shown.join(&file.value))
            .map_err(|problems| self.refuse(problems, file))
            .ok()
    }

    /// A GeoJSON file; what is wrong with it is said once.
    pub fn geo(&self, file: &Spanned<String>) -> Option<Arc<GeoFile>> {
        let path = self.folder.join(&file.value);
        if let Some(known) = self.geo.borrow().get(&path) {
            return known.clone();
        }
        let read = open_geo(&path, &self.shown.join(&file.value))
            .map_err(|problems| self.refuse(problems, file))
            .ok();
        self.geo.borrow_mut().insert(path, read.clone());
        read
    }

    fn refuse(&self, problems: Problems, file: &Spanned<String>) {
        for mut problem in problems.0 {
            // A file that cannot be opened is the study's fault; a broken one is its own.
            if problem.place.is_none() {
                problem = problem.at(self.check.source.place(&file.span));
            }
            self.check.add(problem);
        }
    }

    /// The polygons of a file in its own coordinates.
    pub fn outlines(
        &self,
        file: &Spanned<String>,
        keys: &RegionKeys,
    ) -> Option<Arc<Vec<Option<Outline>>>> {
        let place = (self.folder.join(&file.value), [keys.planar, keys.skips]);
        if let Some(known) = self.outlines.borrow().get(&place) {
            return known.clone();
        }
        let read = self.read_outlines(file, keys).map(Arc::new);
        self.outlines.borrow_mut().insert(place, read.clone());
        read
    }

    fn read_outlines(
        &self,
        file: &Spanned<String>,
        keys: &RegionKeys,
    ) -> Option<Vec<Option<Outline>>> {
        let (planar, key) = (keys.planar, keys.name());
        let geo = self.geo(file)?;
        if !planar && let Err(problem) = super::degrees::crs(&geo) {
            self.check.add(*problem);
            return None;
        }
        let mut warnings = Vec::new();
        let bare = match keys.skips {
            true => Bare::LeftOut,
            false => Bare::Unasked,
        };
        let read = outlines(&geo, !planar, key, bare, &mut warnings)
            .map_err(|problems| self.check.extend(problems))
            .ok()?;
        self.warnings.borrow_mut().extend(warnings);
        if !planar && let Err(problem) = super::degrees::outlines(&geo, &read, key) {
            self.check.add(*problem);
            return None;
        }
        Some(read)
    }

    /// The polygons of a file in the coordinates of the model.
    pub fn regions(&self, file: &Spanned<String>, keys: &RegionKeys) -> Option<Arc<Regions>> {
        let place = (self.folder.join(&file.value), [keys.planar, keys.skips]);
        if let Some(known) = self.regions.borrow().get(&place) {
            return known.clone();
        }
        let read = self.project(file, keys).map(Arc::new);
        self.regions.borrow_mut().insert(place, read.clone());
        read
    }

    fn project(&self, file: &Spanned<String>, keys: &RegionKeys) -> Option<Regions> {
        let (planar, key) = (keys.planar, keys.name());
        let outlines = self.outlines(file, keys)?;
        let geo = self.geo(file)?;
        let mut regions = Vec::with_capacity(outlines.len());
        for (feature, outline) in outlines.iter().enumerate() {
            let Some(outline) = outline else {
                regions.push(None);
                continue;
            };
            let polygon = match &self.geographic {
                Some(geographic) if !planar => geographic.polygon(&outline.polygon),
                _ => Ok(outline.polygon.clone()),
            };
            match polygon {
                Ok(polygon) => regions.push(Some(Arc::new(polygon.into()))),
                Err(error) => {
                    let message =
                        format!("{} cannot be projected: {error}", geo.called(feature, key));
                    self.check
                        .add(Problem::new(message).at(geo.feature_place(feature)).remedy(
                        Remedy::or_flags(
                            "mend the polygon, or project the file yourself and add `planar = true`",
                            "mend the polygon, or project the file yourself and add `--planar`",
                        ),
                    ));
                    return None;
                }
            }
        }
        Some(Regions {
            file: geo,
            given: outlines
                .iter()
                .map(|outline| Some(outline.as_ref()?.polygon.clone()))
                .collect(),
            regions,
        })
    }
}
