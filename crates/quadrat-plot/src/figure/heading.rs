//! Titles and axes.

use serde::{Deserialize, Serialize};

/// The words around a figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Heading {
    /// Name of the element in the page (`data-figure`); made unique and plain by the page. May be
    /// empty.
    pub id: String,
    /// Title, in words.
    pub title: String,
    /// What the reader should see, in a sentence or two; notes on thinning are added to it.
    pub caption: String,
}

impl Heading {
    /// A heading with an id and a title.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            caption: String::new(),
        }
    }

    /// The same heading with a caption.
    #[must_use]
    pub fn with_caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }
}

/// What is measured along an axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Axis {
    /// Name of the quantity.
    pub label: String,
    /// Unit, may be empty.
    pub unit: String,
}

impl Axis {
    /// An axis without a unit.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            unit: String::new(),
        }
    }

    /// The same axis with a unit.
    #[must_use]
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// The words written at the axis: `label (unit)`.
    pub fn title(&self) -> String {
        if self.unit.is_empty() {
            self.label.clone()
        } else {
            format!("{} ({})", self.label, self.unit)
        }
    }
}
