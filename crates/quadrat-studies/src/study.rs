//! What a study is, and the list of them.

use anyhow::Result;

use crate::acquire;
use crate::bags;
use crate::binned;
use crate::censored;
use crate::density;
use crate::report::Report;
use crate::settings::Settings;
use crate::sites;
use crate::slopes;
use crate::ungroup;

/// An experiment of a paper.
pub struct Study {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it repeats.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&Settings) -> Result<Report>,
}

/// All studies.
pub const STUDIES: &[Study] = &[
    Study {
        name: "acquire-costs",
        about: "Fletcher, section 6.2: what to measure next for a budget, over 57 costs",
        run: acquire::costs::run,
    },
    Study {
        name: "acquire-real",
        about: "Fletcher, section 6: what to measure next among houses and buoys, beside chance",
        run: acquire::real::run,
    },
    Study {
        name: "bags-areas",
        about: "cases of small areas from those of zones, beside areal and dasymetric weighting",
        run: bags::areas::run,
    },
    Study {
        name: "bags-country",
        about: "a simulated country: rates of a million pixels from counts of districts",
        run: bags::country::run,
    },
    Study {
        name: "bags-coverage",
        about: "coverage of the pixels of small simulated countries, hyperparameters most probable or integrated",
        run: bags::coverage::run,
    },
    Study {
        name: "bags-elevators",
        about: "Law et al., section 4.2: values of single rows from sums of bags",
        run: bags::elevators::run,
    },
    Study {
        name: "bags-madagascar",
        about: "Law et al., section 4.3: malaria by districts of Madagascar, beside simple methods",
        run: bags::madagascar::run,
    },
    Study {
        name: "bags-swiss-roll",
        about: "Law et al., section 4.1: rates of points on a roll from counts of bags",
        run: bags::swiss_roll::run,
    },
    Study {
        name: "binned-robot",
        about: "Smith et al., Table 1: the speed of a robot from distances between times",
        run: binned::robot::run,
    },
    Study {
        name: "binned-privacy-ages",
        about: "Smith et al., Table 2: one-year ages from histograms with privacy noise",
        run: binned::privacy_ages::run,
    },
    Study {
        name: "binned-citibike",
        about: "Smith et al., Table 3: duration of bicycle trips from means over 4-D bins",
        run: binned::citibike::run,
    },
    Study {
        name: "binned-audience",
        about: "Smith et al., Table 4: audience of the next survey from those of earlier ones",
        run: binned::audience::run,
    },
    Study {
        name: "binned-polygons",
        about: "Smith et al., Tables 5 and 6: densities and covariances of polygons; balls in 4-D",
        run: binned::polygons::run,
    },
    Study {
        name: "binned-ungroup",
        about: "single years from bands of age: coverage over 61 populations, beside demographers' methods",
        run: binned::ungroup::run,
    },
    Study {
        name: "ungroup",
        about: "`quadrat ungroup`: single years and bins of income from bands, open groups, beside other methods",
        run: ungroup::run,
    },
    Study {
        name: "ungroup-borrow",
        about: "`--borrow`: rates of small populations alone, and around those of all together",
        run: ungroup::borrow::run,
    },
    Study {
        name: "binned-sums",
        about: "sums of counted bins at fixed hyperparameters beside draws; totals of simulated tables",
        run: binned::sums::run,
    },
    Study {
        name: "density",
        about: "densities of samples from known ones: distance, coverage of bands, time; raw, binned, rounded, in intervals",
        run: density::run,
    },
    Study {
        name: "density-draws",
        about: "densities beside draws from their posterior: grid, design and most probable hyperparameters",
        run: density::draws::run,
    },
    Study {
        name: "density-plane",
        about: "densities of two columns of samples from known ones, beside a kernel estimate: distance, coverage of bands",
        run: density::plane::run,
    },
    Study {
        name: "density-conditional",
        about: "densities of one column given another of samples from known ones, beside kernels and both columns",
        run: density::conditional::run,
    },
    Study {
        name: "sites-calibration",
        about: "coverage of the latent function for every likelihood, over simulated data sets",
        run: sites::calibration::run,
    },
    Study {
        name: "sites-exactness",
        about: "every approximation on three to six rows of every likelihood, and of every two, against brute force",
        run: sites::exactness::run,
    },
    Study {
        name: "sites-agreement",
        about: "default fits of every likelihood, hyperparameters free, beside the no-U-turn sampler",
        run: sites::agreement::run,
    },
    Study {
        name: "sites-prevalence",
        about: "coverage of the prevalence of districts, surveyed or not, over simulated tables",
        run: sites::prevalence::run,
    },
    Study {
        name: "sites-amounts",
        about: "coverage of parts of positive totals that are known exactly or with an error, over simulated tables",
        run: sites::amounts::run,
    },
    Study {
        name: "sites-hidden",
        about: "coverage of what stands behind hidden counts and values below a limit, over simulated tables",
        run: sites::hidden::run,
    },
    Study {
        name: "sites-ranks",
        about: "ranks of public data sets from their covariates (Chu and Ghahramani's benchmarks)",
        run: sites::ranks::run,
    },
    Study {
        name: "slopes",
        about: "coverage of the slope of a mean that is linear in a covariate",
        run: slopes::run,
    },
    Study {
        name: "mixed",
        about: "Fletcher, section 4: one function from values, intervals and ranks",
        run: sites::mixed::run,
    },
    Study {
        name: "mixed-exactness",
        about: "expectation propagation on few values, intervals and ranks, against brute force",
        run: sites::mixed::exactness::run,
    },
    Study {
        name: "censored-newyork",
        about: "Gammelli et al., Table 4: demand for bicycles, hidden in part, from hours, days and rain",
        run: censored::newyork::run,
    },
    Study {
        name: "censored-synthetic",
        about: "Gammelli et al., Tables 1 and 2: six models of two series, parts of which are censored",
        run: censored::synthetic::run,
    },
    Study {
        name: "censored-coverage",
        about: "whether intervals hold the function where it is censored, by what was recorded there",
        run: censored::coverage::run,
    },
    Study {
        name: "censored-correlation",
        about: "whether the interval of the correlation of two outputs holds it",
        run: censored::correlation::run,
    },
    Study {
        name: "censored-agreement",
        about: "fits of two censored series with noise that changes, beside draws from their posterior",
        run: censored::agreement::run,
    },
];
