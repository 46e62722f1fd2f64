//! The rates that populations have in common.

use std::collections::HashMap;

use quadrat::ungroup::{Exposure, Population, Standard, UngroupError};

use super::found::configured;
use super::group::Group;
use super::refused;
use super::rows::Rows;
use crate::diagnostic::Problem;
use crate::study::ungroup::Ungroup;

/// A population with a larger part of all events has the others as its standard: it is not to be
/// drawn towards itself.
const OWN: f64 = 0.05;

/// The exposure of a population.
#[derive(Debug, Clone, Copy)]
pub struct Exposed<'a> {
    /// In the order of its bands.
    pub counts: &'a [f64],
    /// Where it stands in a table of its own.
    pub own: Option<(&'a Rows, &'a Group)>,
}

impl<'a> Exposed<'a> {
    /// # Errors
    /// Where the table of exposures has nobody of it.
    pub fn of(rows: &'a Rows, group: &'a Group) -> Result<Self, Problem> {
        let Some(exposed) = rows.exposed.as_deref() else {
            let counts = group.exposure.as_deref().unwrap_or(&[]);
            return Ok(Self { counts, own: None });
        };
        match exposed.named(&group.name) {
            Some(own) => Ok(Self {
                counts: &own.counts,
                own: Some((exposed, own)),
            }),
            None => Err(refused::unexposed(exposed, group)),
        }
    }

    /// Its own bands, where it has some.
    pub fn bands(&self) -> Option<(&'a [f64], &'a [f64])> {
        self.own
            .map(|(_, own)| (own.lower.as_slice(), own.upper.as_slice()))
    }

    /// What names all bands: populations that have the same are added up.
    fn key(&self, group: &Group) -> Vec<u64> {
        let own = self.bands().unwrap_or_default();
        let edges = [&group.lower, &group.upper].into_iter().flatten();
        let edges = edges.chain(own.0).chain(own.1);
        edges.map(|x| x.to_bits()).collect()
    }
}

/// What each population lies around; none where no other one has its bands.
pub struct Standards {
    all: Vec<Standard>,
    of: Vec<Option<usize>>,
    /// Populations whose standard could not be found, and why.
    pub failed: Vec<(usize, UngroupError)>,
}

impl Standards {
    /// Rates of all populations of the same bands, added up.
    pub fn new(args: &Ungroup, rows: &Rows) -> Self {
        let mut out = Self {
            all: Vec::new(),
            of: vec![None; rows.groups.len()],
            failed: Vec::new(),
        };
        for members in alike(rows) {
            if members.len() > 1 {
                out.add(args, &members);
            }
        }
        out
    }

    /// That of a population.
    pub fn of(&self, group: usize) -> Option<&Standard> {
        self.of[group].map(|at| &self.all[at])
    }

    fn add(&mut self, args: &Ungroup, members: &[Member<'_>]) {
        let sum = |of: &dyn Fn(&Member<'_>) -> Vec<f64>| -> Vec<f64> {
            let mut sum = of(&members[0]);
            for member in &members[1..] {
                sum.iter_mut().zip(of(member)).for_each(|(a, b)| *a += b);
            }
            sum
        };
        let events = sum(&|member| member.group.counts.clone());
        let exposed = sum(&|member| member.exposed.counts.to_vec());
        let total: f64 = events.iter().sum();
        let mut whole: Option<Result<usize, UngroupError>> = None;
        for member in members {
            let own: f64 = member.group.counts.iter().sum();
            let found = match own > OWN * total {
                true => {
                    let less = |all: &[f64], own: &[f64]| -> Vec<f64> {
                        let each = all.iter().zip(own);
                        // Sums of decimals may leave less than nothing.
                        each.map(|(all, own)| (all - own).max(0.0)).collect()
                    };
                    let others = [
                        less(&events, &member.group.counts),
                        less(&exposed, member.exposed.counts),
                    ];
                    self.curve(args, member, &others)
                }
                false => whole
                    .get_or_insert_with(|| {
                        self.curve(args, member, &[events.clone(), exposed.clone()])
                    })
                    .clone(),
            };
            match found {
                Ok(at) => self.of[member.at] = Some(at),
                Err(error) => self.failed.push((member.at, error)),
            }
        }
    }

    /// The number of a new curve: of events and exposures in the bands of a population.
    fn curve(
        &mut self,
        args: &Ungroup,
        like: &Member<'_>,
        [events, exposed]: &[Vec<f64>; 2],
    ) -> Result<usize, UngroupError> {
        let of = Population {
            counts: exposed,
            stream: 0,
        };
        let bands = like.exposed.bands();
        let builder = configured(args, &like.group.lower, &like.group.upper);
        let rates = builder.rates_of(events, Exposure { of, bands })?;
        self.all.push(rates.standard());
        Ok(self.all.len() - 1)
    }
}

/// A population among those of the same bands.
struct Member<'a> {
    at: usize,
    group: &'a Group,
    exposed: Exposed<'a>,
}

/// Populations of the same bands, in the order of their first; those without an exposure are left
/// out.
fn alike(rows: &Rows) -> Vec<Vec<Member<'_>>> {
    let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut out: Vec<Vec<Member<'_>>> = Vec::new();
    for (at, group) in rows.groups.iter().enumerate() {
        let Ok(exposed) = Exposed::of(rows, group) else {
            continue;
        };
        let batch = *places.entry(exposed.key(group)).or_insert_with(|| {
            out.push(Vec::new());
            out.len() - 1
        });
        out[batch].push(Member { at, group, exposed });
    }
    out
}
