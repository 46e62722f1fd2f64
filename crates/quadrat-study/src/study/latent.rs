//! `[latent]`: the prior of the function, its kernel, mean and link.

use quadrat::link::Link;
use quadrat::model::Mean;

use super::fields::{Section, Spanned};
use super::non_negative::NonNegative;
use super::observe::Observe;
use super::{link, map_kernel, non_negative, shapes};
use crate::diagnostic::shown;
use crate::expressions;

/// The prior of the latent function.
#[derive(Debug, Clone)]
pub struct Latent {
    /// The kernel expression, already parsed once.
    pub kernel: Spanned<String>,
    /// Columns of the kernel in order of appearance, without that of the outputs, and then those
    /// of the mean alone.
    pub columns: Vec<String>,
    /// How many of them are those of the mean alone, the last.
    pub beside: usize,
    /// Outputs that the kernel itself mixes.
    pub outputs: Vec<String>,
    /// The mean function.
    pub mean: Spanned<Mean>,
    /// From its values to the means of counts and waiting times, when the study says.
    pub link: Option<Spanned<Link>>,
    /// Whether and how it is kept from being negative.
    pub non_negative: Option<Spanned<NonNegative>>,
    /// What else it is known to be.
    pub shapes: Vec<shapes::Held>,
}

impl Latent {
    /// The columns of the kernel, without that of the outputs.
    pub fn of_kernel(&self) -> &[String] {
        &self.columns[..self.columns.len() - self.beside]
    }
}

/// The section; what it leaves open for maps follows from the tables.
pub fn read(root: &Section<'_>, observe: &[Observe]) -> Option<Latent> {
    let nothing = toml_edit::Table::new();
    let section = match root.get("latent") {
        Some(item) => Section::from_item(
            root.check,
            "[latent]",
            item,
            "[latent] above `kernel = ...`",
        )?,
        None if map_kernel::of(observe, &[]).is_some() => {
            Section::new(root.check, "[latent]", &nothing, 0..0)
        }
        None => {
            root.missing(
                "[latent]",
                &format!(
                    "add a section [latent] with a kernel, such as `kernel = \"se(age)\"`; {}",
                    map_kernel::WHERE
                ),
            );
            return None;
        }
    };
    section.keys(&shapes::OF_LATENT, &[]);
    let link = link::read(&section);
    let non_negative = non_negative::read(&section);
    let mean = mean(&section);
    let lines = mean.as_ref().map_or(&[][..], |mean| mean.value.columns());
    let kernel = match (section.get("kernel"), map_kernel::of(observe, lines)) {
        (Some(_), _) => section.text("kernel")?,
        (None, Some(kernel)) => Spanned {
            value: kernel.to_string(),
            span: section.span.clone(),
        },
        (None, None) => {
            section.missing(
                "kernel",
                &format!("such as `kernel = \"se(age)\"`; {}", map_kernel::WHERE),
            );
            return None;
        }
    };
    match expressions::kernel_columns(&kernel.value) {
        Ok((mut columns, outputs)) => {
            let mean = mean?;
            let own = mean.value.columns().iter();
            let beside: Vec<String> = own.filter(|c| !columns.contains(c)).cloned().collect();
            columns.extend_from_slice(&beside);
            Some(Latent {
                kernel,
                columns,
                beside: beside.len(),
                outputs,
                mean,
                link,
                non_negative,
                shapes: shapes::read(&section),
            })
        }
        Err((at, message)) => {
            let span = kernel.byte(root.check.source, at);
            root.check.refuse(
                &span,
                format!("in the kernel: {message}"),
                "a kernel reads like `se(age) * periodic(year) + linear(age)`",
            );
            None
        }
    }
}

fn mean(section: &Section<'_>) -> Option<Spanned<Mean>> {
    let Some(item) = section.get("mean") else {
        return Some(Spanned {
            value: Mean::Constant,
            span: section.span.clone(),
        });
    };
    let Some(text) = item.as_str() else {
        let number = section.number("mean")?;
        return Some(Spanned {
            value: Mean::Fixed(number.value),
            span: number.span,
        });
    };
    let span = section.span_of("mean");
    // A number in quotes is no number here, as it is nowhere else.
    let is_line = text.contains("linear");
    let known = match text.parse::<Mean>() {
        Ok(Mean::Fixed(_)) => Err(format!("`{}` is not a known `mean`", shown(text))),
        Err(_) if !is_line => Err(format!("`{}` is not a known `mean`", shown(text))),
        Err(message) => {
            let message = message.replace(char::is_control, " ");
            Err(format!("in the `mean`: {message}"))
        }
        Ok(value) => Ok(value),
    };
    match known {
        Ok(value) => Some(Spanned { value, span }),
        Err(message) => {
            section.check.refuse(
                &span,
                message,
                "`mean` is \"constant\" (learned), \"zero\", a number, or lines along inputs, \"linear(elevation)\"",
            );
            None
        }
    }
}
