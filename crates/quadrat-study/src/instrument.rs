//! Which table a prediction is about, where tables of one output differ in what a new observation
//! would be.

use quadrat::likelihood::Likelihood;

use crate::study::Scale;
use crate::suggest;

/// What a prediction of one output may be about.
pub struct Choice<'a> {
    /// The names of all tables of the model.
    pub names: &'a [String],
    /// Tables that answer alike on the scale of the prediction, see
    /// [`quadrat::model::instruments`].
    pub groups: Vec<Vec<usize>>,
    /// The same on the scale of observations.
    pub observed: Vec<Vec<usize>>,
    /// The scale of the prediction.
    pub scale: Scale,
    /// Whether new observations are drawn about a response too.
    pub is_noisy: bool,
    /// The output, where there are several.
    pub output: Option<&'a str>,
    /// How people name a table: `as = "loud.csv"`, `--as loud.csv`.
    pub how: fn(&str) -> String,
}

/// Why a prediction is about no table, and how to mend it.
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl Choice<'_> {
    /// The table that a prediction is about: the one that is named, else the only kind there is.
    /// None where none is named and none is needed. `is_known` says of a table whether the noise of
    /// a new row is known.
    pub fn table(
        &self,
        named: Option<&str>,
        is_known: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>, Fault> {
        let Some(name) = named else {
            return self.unnamed(is_known);
        };
        if !self.has_effect() {
            return Err(self.needless());
        }
        let with_name = |table: &&usize| self.names.get(**table).is_some_and(|n| n == name);
        let found: Vec<usize> = self
            .observed
            .iter()
            .flatten()
            .filter(with_name)
            .copied()
            .collect();
        let kinds = self
            .observed
            .iter()
            .filter(|group| group.iter().any(|t| found.contains(t)));
        match (kinds.count(), found.first()) {
            (1, Some(&table)) => Ok(Some(table)),
            (0, _) | (_, None) => Err(self.unknown(name)),
            _ => Err(Fault {
                message: format!(
                    "several tables are called `{name}`, and their new observations differ"
                ),
                remedy: "give each a `name` of its own in [[observe]], and fit again".to_owned(),
            }),
        }
    }

    /// Whether naming a table changes anything or says what would be taken anyway.
    fn has_effect(&self) -> bool {
        match self.scale {
            Scale::Observation | Scale::Report => true,
            Scale::Response => self.is_noisy || self.groups.len() > 1,
            Scale::Latent | Scale::Row => false,
        }
    }

    fn needless(&self) -> Fault {
        let scale = self.scale.word();
        let why = match self.scale {
            Scale::Latent => "the function is the same for all tables",
            _ => "all tables report of the same mean",
        };
        Fault {
            message: format!("naming a table has no effect at the scale `{scale}`: {why}"),
            remedy: "leave it out, or predict the scale `observation`".to_owned(),
        }
    }

    fn unknown(&self, name: &str) -> Fault {
        let own = self.own_names();
        let message = match self.names.iter().any(|known| known == name) {
            false => format!("no table is called `{name}`"),
            true => {
                let of = self
                    .output
                    .map_or_else(String::new, |o| format!(" of the output `{o}`"));
                format!("the table `{name}` reports nothing{of} that could be predicted")
            }
        };
        let near = suggest::nearest(name, own.iter().map(String::as_str));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Fault {
            message: message + &hint,
            remedy: format!("it may be {}", suggest::list(&own)),
        }
    }

    /// Where no table is named.
    fn unnamed(&self, is_known: impl Fn(usize) -> bool) -> Result<Option<usize>, Fault> {
        let first = |groups: &[Vec<usize>]| match groups {
            [only] => only.first().copied(),
            _ => None,
        };
        if self.groups.len() < 2 {
            // A band of new observations is drawn where no table has to be chosen for it.
            return Ok(match self.scale {
                Scale::Response if self.is_noisy => first(&self.observed),
                _ => first(&self.groups),
            });
        }
        let mut all = self.groups.iter().flatten();
        if self.scale.is_observed() && !all.any(|table| is_known(*table)) {
            // That of no table is known, which is said elsewhere.
            return Ok(self.groups[0].first().copied());
        }
        let own = self.own_names();
        let whose = self
            .output
            .map_or_else(String::new, |o| format!(" of the output `{o}`"));
        let what = match self.scale {
            Scale::Observation => "new observations",
            Scale::Report => "new reports",
            _ => "the means of what is reported",
        };
        let message = format!(
            "{what}{whose} differ between the tables {}, and which is meant is not said",
            suggest::list(&own)
        );
        let remedy = match own.len() < self.groups.len() {
            true => format!(
                "give each table a `name` of its own in [[observe]], and say {} or another of them",
                (self.how)("that name")
            ),
            false => {
                let each = own
                    .iter()
                    .take(3)
                    .map(|name| format!("`{}`", (self.how)(name)));
                format!("say {}", each.collect::<Vec<_>>().join(" or "))
            }
        };
        Err(Fault { message, remedy })
    }

    /// The names of the tables that report something, each once.
    fn own_names(&self) -> Vec<String> {
        let mut own: Vec<String> = Vec::new();
        for table in self.observed.iter().flatten() {
            if let Some(name) = self.names.get(*table).filter(|name| !own.contains(name)) {
                own.push(name.clone());
            }
        }
        own
    }
}

/// Whether the known part of the noise of all rows of a table is the same, so that it is that of a
/// new row.
pub fn has_one_noise(likelihood: &Likelihood) -> bool {
    let known = likelihood.known_variance().unwrap_or_default();
    known.iter().all(|one| *one == known[0])
}
