//! Adaptive integration of several functions at once, without allocation.

/// Positive nodes of the 21-point Kronrod rule, its weights, and those of the 10-point Gauss rule
/// inside it.
const KRONROD: [(f64, f64, f64); 10] = [
    (
        0.148_874_338_981_631_22,
        0.147_739_104_901_338_49,
        0.295_524_224_714_752_87,
    ),
    (0.294_392_862_701_460_2, 0.142_775_938_577_060_09, 0.0),
    (
        0.433_395_394_129_247_2,
        0.134_709_217_311_473_34,
        0.269_266_719_309_996_35,
    ),
    (0.562_757_134_668_604_7, 0.123_491_976_262_065_84, 0.0),
    (
        0.679_409_568_299_024_4,
        0.109_387_158_802_297_64,
        0.219_086_362_515_982_04,
    ),
    (0.780_817_726_586_416_9, 0.093_125_454_583_697_6, 0.0),
    (
        0.865_063_366_688_984_5,
        0.075_039_674_810_919_96,
        0.149_451_349_150_580_6,
    ),
    (0.930_157_491_355_708_2, 0.054_755_896_574_351_995, 0.0),
    (
        0.973_906_528_517_171_7,
        0.032_558_162_307_964_725,
        0.066_671_344_308_688_14,
    ),
    (0.995_657_163_025_808_1, 0.011_694_638_867_371_874, 0.0),
];
/// Weight of the Kronrod rule at the middle, where the Gauss rule has no node.
const MIDDLE: f64 = 0.149_445_554_002_916_9;
const NODES: usize = 2 * KRONROD.len() + 1;
/// Largest difference of the two rules, relative to the integral of the absolute value. The error
/// of the better one is then about (200 x this)^(3/2) = 1e-11 (Piessens et al. 1983, QUADPACK,
/// 2.2.4.1), and mostly far smaller.
const TOLERANCE: f64 = 3e-10;
/// Panels that may be halved; a function that needs more is rougher than rounding allows.
const HALVINGS: usize = 400;
/// Depth of halving: 2^-40 of a panel is below the spacing of the peaks that callers ask for.
const DEPTH: usize = 40;
const MOST_ENDS: usize = 128;
/// Ratio of neighbouring panels around a peak.
const GROWTH: f64 = 6.0;

/// Ends of the panels where an integration begins.
pub(crate) struct Panels {
    ends: [f64; MOST_ENDS],
    len: usize,
}

impl Panels {
    /// One panel.
    pub fn new(lower: f64, upper: f64) -> Self {
        let mut ends = [0.0; MOST_ENDS];
        (ends[0], ends[1]) = (lower, upper);
        Self { ends, len: 2 }
    }

    /// Splits at `x`, where that lies inside.
    pub fn split(&mut self, x: f64) {
        let inside = x > self.ends[0] && x < self.ends[self.len - 1];
        if !inside || self.len == MOST_ENDS {
            return;
        }
        let mut at = self.len;
        while self.ends[at - 1] > x {
            self.ends[at] = self.ends[at - 1];
            at -= 1;
        }
        if self.ends[at - 1] == x {
            // Already there: close the gap again.
            self.ends.copy_within(at + 1..self.len + 1, at);
            return;
        }
        self.ends[at] = x;
        self.len += 1;
    }

    /// Splits around a peak or bend of the given width, in panels that grow away from it.
    pub fn around(&mut self, centre: f64, width: f64) {
        self.split(centre);
        let reach = (self.ends[self.len - 1] - centre).max(centre - self.ends[0]);
        let mut distance = width;
        while distance > 0.0 && distance < reach {
            self.split(centre - distance);
            self.split(centre + distance);
            distance *= GROWTH;
        }
    }
}

/// Integrals of several functions, and of their absolute values.
pub(crate) struct Integrals<const N: usize> {
    pub value: [f64; N],
    pub size: [f64; N],
}

struct Estimate<const N: usize> {
    value: [f64; N],
    size: [f64; N],
    difference: [f64; N],
}

fn estimate<const N: usize>(
    lower: f64,
    upper: f64,
    f: &impl Fn(&[f64], &mut [[f64; N]]),
) -> Estimate<N> {
    let (middle, half) = (0.5 * (lower + upper), 0.5 * (upper - lower));
    let mut nodes = [middle; NODES];
    for (k, (node, ..)) in KRONROD.iter().enumerate() {
        (nodes[2 * k + 1], nodes[2 * k + 2]) = (middle - half * node, middle + half * node);
    }
    let mut there = [[0.0; N]; NODES];
    f(&nodes, &mut there);
    let (mut value, mut size, mut gauss) = ([0.0; N], [0.0; N], [0.0; N]);
    let mut add = |y: &[f64; N], kronrod: f64, weight: f64| {
        for i in 0..N {
            value[i] += kronrod * y[i];
            size[i] += kronrod * y[i].abs();
            gauss[i] += weight * y[i];
        }
    };
    add(&there[0], MIDDLE, 0.0);
    for (k, (_, kronrod, weight)) in KRONROD.into_iter().enumerate() {
        add(&there[2 * k + 1], kronrod, weight);
        add(&there[2 * k + 2], kronrod, weight);
    }
    let mut difference = [0.0; N];
    for i in 0..N {
        difference[i] = half * (value[i] - gauss[i]).abs();
        value[i] *= half;
        size[i] *= half;
    }
    Estimate {
        value,
        size,
        difference,
    }
}

/// Integrates the functions `f` over the panels, each to 1e-11 of the integral of its absolute
/// value or better.
///
/// # Numerics
/// Kronrod's 21-point rule on every panel; panels where Gauss's 10 points disagree are halved. At
/// most 400 are; not a number stays so.
pub(crate) fn integrate<const N: usize>(
    panels: &Panels,
    f: impl Fn(f64) -> [f64; N],
) -> Integrals<N> {
    integrate_many(panels, |places, out| {
        let pairs = places.iter().zip(out);
        pairs.for_each(|(x, out)| *out = f(*x));
    })
}

/// As [`integrate`], of functions that are quick at many places at once.
///
/// # Arguments
/// * `f` - fills in the functions at all of some places
pub(super) fn integrate_many<const N: usize>(
    panels: &Panels,
    f: impl Fn(&[f64], &mut [[f64; N]]),
) -> Integrals<N> {
    let (mut value, mut size) = ([0.0; N], [0.0; N]);
    // A first pass finds how large the integrals are; rough panels wait in the list.
    let mut rough = [(0.0, 0.0, 0); MOST_ENDS + DEPTH];
    let mut first: [[f64; N]; MOST_ENDS] = [[0.0; N]; MOST_ENDS];
    let mut differences: [[f64; N]; MOST_ENDS] = [[0.0; N]; MOST_ENDS];
    for k in 0..panels.len - 1 {
        let panel = estimate(panels.ends[k], panels.ends[k + 1], &f);
        (0..N).for_each(|i| size[i] += panel.size[i]);
        first[k] = panel.value;
        differences[k] = panel.difference;
    }
    let differs = |difference: &[f64; N], size: &[f64; N]| {
        (0..N).any(|i| difference[i] > TOLERANCE * size[i])
    };
    let mut waiting = 0;
    for k in 0..panels.len - 1 {
        if differs(&differences[k], &size) {
            rough[waiting] = (panels.ends[k], panels.ends[k + 1], 0);
            waiting += 1;
        } else {
            (0..N).for_each(|i| value[i] += first[k][i]);
        }
    }
    let mut halvings = 0;
    while waiting > 0 {
        waiting -= 1;
        let (lower, upper, depth) = rough[waiting];
        let middle = 0.5 * (lower + upper);
        halvings += 1;
        for (from, to) in [(lower, middle), (middle, upper)] {
            let panel = estimate(from, to, &f);
            // The first pass may have missed a peak.
            (0..N).for_each(|i| size[i] = size[i].max(panel.size[i]));
            if depth < DEPTH && halvings < HALVINGS && differs(&panel.difference, &size) {
                rough[waiting] = (from, to, depth + 1);
                waiting += 1;
            } else {
                (0..N).for_each(|i| value[i] += panel.value[i]);
            }
        }
    }
    Integrals { value, size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_peaks_and_bends_are_found() {
        // A Cauchy peak of width 1e-6 in a range of 2e6: integral 2 atan(1e12) / width.
        let mut panels = Panels::new(-1e6, 1e6);
        panels.around(0.0, 1e-6);
        let width = 1e-6;
        let f = |x: f64| [width / (x * x + width * width), x.abs()];
        let integrals = integrate(&panels, f);
        let want = 2.0 * (1e12f64).atan();
        assert!((integrals.value[0] / want - 1.0).abs() < 1e-12);
        assert!((integrals.value[1] / 1e12 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_bend_between_the_ends_is_halved_down_to() {
        let integrals = integrate(&Panels::new(-1.0, 2.0), |x: f64| [(x - 0.3).abs(), x]);
        let want = 0.5 * (1.3 * 1.3 + 1.7 * 1.7);
        // The tolerance on the difference of the rules.
        assert!((integrals.value[0] / want - 1.0).abs() < 3e-10);
        assert!((integrals.value[1] - 1.5).abs() < 1e-13);
        assert!((integrals.size[1] - 2.5).abs() < 1e-2);
    }

    #[test]
    fn splits_are_sorted_and_counted_once() {
        let mut panels = Panels::new(0.0, 10.0);
        for x in [5.0, 3.0, 5.0, 11.0, 0.0, 4.0] {
            panels.split(x);
        }
        assert_eq!(panels.ends[..panels.len], [0.0, 3.0, 4.0, 5.0, 10.0]);
    }
}
