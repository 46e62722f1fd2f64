//! Kernels of the studies, with the names of their hyperparameters.

use crate::draw::Draw;

/// An expression with its hyperparameters.
pub struct Kernel {
    pub text: String,
    names: Vec<&'static str>,
    /// Whether the names are listed; otherwise none is set.
    pub is_named: bool,
    /// Whether the function may be known exactly somewhere: a line through zero.
    pub may_vanish: bool,
    /// Kilometres or units.
    unit: f64,
}

type Listed = (&'static str, &'static str);

/// Over `t`.
const LINE: &[Listed] = &[
    ("se(t)", "se.variance se.lengthscale.t"),
    ("matern12(t)", "matern12.variance matern12.lengthscale.t"),
    ("matern32(t)", "matern32.variance matern32.lengthscale.t"),
    ("matern52(t)", "matern52.variance matern52.lengthscale.t"),
    (
        "matern32(t) + matern12(t)",
        "matern32.variance matern32.lengthscale.t matern12.variance matern12.lengthscale.t",
    ),
    ("rq(t)", "rq.variance rq.lengthscale.t rq.alpha"),
    (
        "periodic(t, period = 3)",
        "periodic.variance periodic.lengthscale.t",
    ),
    (
        "periodic(t)",
        "periodic.variance periodic.lengthscale.t periodic.period.t",
    ),
    (
        "se(t) * periodic(t, period = 4)",
        "se.variance se.lengthscale.t periodic.lengthscale.t",
    ),
    ("linear(t) + constant", "linear.variance constant.variance"),
    (
        "se(t) + linear(t)",
        "se.variance se.lengthscale.t linear.variance",
    ),
    ("(se(t) + constant) * matern32(t)", ""),
];

/// Over `t` and `u`.
const PLANE: &[Listed] = &[
    ("se(t, u)", "se.variance se.lengthscale.t se.lengthscale.u"),
    ("se(t, u, shared = true)", "se.variance se.lengthscale"),
    (
        "matern32(t) * se(u)",
        "matern32.variance matern32.lengthscale.t se.lengthscale.u",
    ),
    (
        "matern52(t, u)",
        "matern52.variance matern52.lengthscale.t matern52.lengthscale.u",
    ),
    (
        "matern12(t) + se(u)",
        "matern12.variance matern12.lengthscale.t se.variance se.lengthscale.u",
    ),
    (
        "linear(t, u) + se(t)",
        "linear.variance linear.lengthscale.t linear.lengthscale.u se.variance se.lengthscale.t",
    ),
    (
        "rq(t, u)",
        "rq.variance rq.lengthscale.t rq.lengthscale.u rq.alpha",
    ),
];

/// Over `x` and `y`; the last one is what a map has without a word.
const MAP: &[Listed] = &[
    ("se(x, y)", "se.variance se.lengthscale.x se.lengthscale.y"),
    (
        "matern32(x, y)",
        "matern32.variance matern32.lengthscale.x matern32.lengthscale.y",
    ),
    (
        "matern12(x, y, shared = true)",
        "matern12.variance matern12.lengthscale",
    ),
    (
        "matern52(x) * se(y)",
        "matern52.variance matern52.lengthscale.x se.lengthscale.y",
    ),
    ("matern32(x, y) ", ""),
];

impl Kernel {
    /// Takes a kernel whose hyperparameters are listed in place of one whose are not.
    pub fn name(&mut self) {
        if !self.is_named {
            let (text, names) = if self.text.contains('x') {
                MAP[0]
            } else {
                LINE[0]
            };
            self.text = text.into();
            self.names = names.split(' ').collect();
            self.is_named = true;
        }
    }
}

pub fn draw(draw: &mut Draw, dims: &[&str], planar: bool) -> Kernel {
    let list = match dims {
        [_] => LINE,
        ["x", _] => MAP,
        _ => PLANE,
    };
    let (text, names) = *draw.of(list);
    let names: Vec<&str> = names.split(' ').filter(|name| !name.is_empty()).collect();
    Kernel {
        text: text.into(),
        is_named: !names.is_empty(),
        may_vanish: text.contains("linear"),
        unit: if dims[0] == "x" && !planar { 50.0 } else { 1.0 },
        names,
    }
}

/// The section that holds all, some or none of them.
pub fn hyperparameters(kernel: &Kernel, must_be_fixed: bool, draw: &mut Draw) -> String {
    let mut text = String::from("[hyperparameters]\n");
    let all_fixed = must_be_fixed || draw.percent(55);
    if !all_fixed && draw.percent(50) {
        return String::new();
    }
    for name in &kernel.names {
        let usual = match name.contains("lengthscale") {
            true if name.starts_with("periodic") => 1.0,
            true => 1.5 * kernel.unit,
            false => 1.0,
        };
        let value = usual * draw.between(0.5, 2.0);
        let entry = match draw.below(8) {
            _ if all_fixed => format!("{{ value = {value}, fixed = true }}"),
            0 => format!("{{ start = {value} }}"),
            1 => format!("{{ lower = {}, upper = {} }}", value * 0.2, value * 5.0),
            2 => format!("{{ prior = \"log_normal({:.3}, 0.5)\" }}", value.ln()),
            3 => format!("{{ prior = \"half_student_t(3, {value})\", start = {value} }}"),
            4 => format!(
                "{{ prior = \"gamma(2, {value})\", upper = {} }}",
                value * 20.0
            ),
            5 => format!("{{ prior = \"inverse_gamma(2, {value})\" }}"),
            6 => format!("{{ prior = \"half_normal({value})\" }}"),
            _ => continue,
        };
        text.push_str(&format!("\"{name}\" = {entry}\n"));
    }
    text
}
