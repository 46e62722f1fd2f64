//! The rates that populations have in common.

use quadrat::ungroup::{Exposure, Population, Standard};

use super::configured::configured;
use super::group::{Group, alike};
use super::refused;
use super::rows::Rows;
use super::whole;
use crate::diagnostic::Problem;
use crate::study::ungroup::Ungroup;

/// A population with a larger part of all events has the others as its standard: it is not to be
/// drawn towards itself.
const OWN: f64 = 0.05;
/// Events that make a standard, at least, and times those of the population that is to lie around
/// it: a standard counts as known, and of fewer events it is not. With 60 events around 2,000
/// intervals of 95 % held .97 of simulated rates, around 60 they held .90, around 10 .67.
const FEWEST: f64 = 300.0;
const TIMES: f64 = 5.0;
/// Of a population around whom there are fewer.
const FEW: &str = "others of the same bands have fewer than 300 events, or fewer than five times its own: its rates are told by themselves (borrow)";

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
        let own = self.own.map(|(_, own)| own.edges());
        group
            .edges()
            .into_iter()
            .chain(own.unwrap_or_default())
            .collect()
    }
}

/// What a population lies around, or why it is told by itself.
type Found = Result<usize, String>;

/// What each population lies around.
pub struct Standards {
    all: Vec<Standard>,
    of: Vec<Found>,
}

impl Standards {
    /// Rates of all populations of the same bands, added up; totals of the others are left out.
    pub fn new(args: &Ungroup, rows: &Rows) -> Self {
        let alone =
            "no other population has these bands: its rates are told by themselves (borrow)";
        let mut out = Self {
            all: Vec::new(),
            of: vec![Err(alone.to_owned()); rows.groups.len()],
        };
        for members in usable(rows) {
            if members.len() > 1 {
                out.add(args, &members);
            }
        }
        out
    }

    /// That of a population.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn of(&self, group: usize) -> Result<&Standard, &str> {
        match &self.of[group] {
            Ok(at) => Ok(&self.all[*at]),
            Err(why) => Err(why),
        }
    }

    fn add(&mut self, args: &Ungroup, members: &[Member<'_>]) {
        let all: f64 = members.iter().map(Member::events).sum();
        let mut whole: Option<Found> = None;
        for member in members {
            let (own, others) = (member.events(), all - member.events());
            self.of[member.at] = if others < FEWEST.max(TIMES * own) {
                Err(FEW.to_owned())
            } else if own > OWN * all {
                let others = members.iter().filter(|other| other.at != member.at);
                self.curve(args, &others.collect::<Vec<_>>())
            } else {
                let known = whole.take();
                let found =
                    known.unwrap_or_else(|| self.curve(args, &members.iter().collect::<Vec<_>>()));
                whole.insert(found).clone()
            };
        }
    }

    /// The number of a new curve: of populations of the same bands together.
    fn curve(&mut self, args: &Ungroup, of: &[&Member<'_>]) -> Found {
        let Some(first) = of.first() else {
            return Err(FEW.to_owned());
        };
        let sum = |column: &dyn Fn(&Member<'_>) -> Vec<f64>| -> Vec<f64> {
            let mut sum = vec![0.0; column(first).len()];
            for member in of {
                let own = column(member);
                sum.iter_mut().zip(own).for_each(|(all, own)| *all += own);
            }
            sum
        };
        let events = sum(&|member| member.group.counts.clone());
        let exposed = sum(&|member| member.exposed.counts.to_vec());
        let of = Population {
            counts: &exposed,
            stream: 0,
        };
        let bands = first.exposed.bands();
        let builder = configured(args, &first.group.lower, &first.group.upper);
        let rates = builder.rates_of(&events, Exposure { of, bands });
        let why = |error| {
            format!(
                "the rates of the others cannot be told ({error}): its own are told by themselves (borrow)"
            )
        };
        self.all.push(rates.map_err(why)?.standard());
        Ok(self.all.len() - 1)
    }
}

/// A population among those of the same bands.
struct Member<'a> {
    at: usize,
    group: &'a Group,
    exposed: Exposed<'a>,
}

impl Member<'_> {
    fn events(&self) -> f64 {
        self.group.counts.iter().sum()
    }

    /// Whether its numbers can be added to those of others; what is wrong with them is told of it
    /// alone.
    fn is_sound(&self) -> bool {
        let whole = |events: &f64| *events >= 0.0 && events.fract() == 0.0;
        let exposed = |people: &f64| *people >= 0.0 && people.is_finite();
        let each = self.group.counts.iter().zip(self.exposed.counts);
        let mut of_nobody = each.filter(|(events, people)| **events > 0.0 && **people == 0.0);
        let is_same = self.exposed.own.is_none();
        self.group.counts.iter().all(whole)
            && self.exposed.counts.iter().all(exposed)
            && !(is_same && of_nobody.next().is_some())
    }
}

/// Populations that can be added to others of the same bands: their numbers can be used, and they
/// are no totals of all others.
fn usable(rows: &Rows) -> Vec<Vec<Member<'_>>> {
    let totals = whole::totals(&rows.groups);
    let members = rows.groups.iter().enumerate().filter_map(|(at, group)| {
        let exposed = Exposed::of(rows, group).ok()?;
        let member = Member { at, group, exposed };
        let is_usable = member.is_sound() && !totals.contains(&at);
        is_usable.then(|| (exposed.key(group), member))
    });
    alike(members)
}
