//! Small tables and maps: a few rows of a wave, seen in every way that a study can name.

use crate::draw::Draw;

/// Squares of a map, and keys of bags and regions.
pub const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Rows of one table: what each column holds follows from its name.
pub struct Rows {
    pub n: usize,
    /// Values of the wave, one a row.
    level: Vec<f64>,
    /// Whether coordinates are repeated, and boxes in either order.
    jitter: Vec<f64>,
}

impl Rows {
    pub fn draw(draw: &mut Draw) -> Self {
        let n = 3 + draw.below(4);
        Self {
            n,
            level: (0..n)
                .map(|i| (1.3 * i as f64).sin() + draw.between(-0.4, 0.4))
                .collect(),
            jitter: (0..n).map(|_| draw.between(0.0, 0.5)).collect(),
        }
    }

    /// The cell of a row in a column of that name.
    pub fn cell(&self, name: &str, i: usize) -> String {
        let (at, y) = (i as f64, self.level[i]);
        let count = (4.0 + 3.0 * y).round().max(0.0);
        match name {
            "k" => KEYS[i].to_owned(),
            "t" => format!("{}", at + self.jitter[i]),
            "u" => format!("{}", self.jitter[self.n - 1 - i] * 4.0),
            "x" | "y_" => format!("{}", at * 0.5 + self.jitter[i]),
            "from" => format!("{at}"),
            "to" => format!("{}", at + 1.0),
            "y" => format!("{y:.3}"),
            "v" => format!("{:.3}", 0.05 + self.jitter[i]),
            "lo" => format!("{:.3}", y - 0.5),
            "hi" => format!("{:.3}", y + self.jitter[i]),
            "side" => ["none", "left", "none", "right", "none", "none"][i].to_owned(),
            "flag" => ["0", "yes", "FALSE", "1", "no", "true"][i].to_owned(),
            "g" => format!("{}", 1 + i % 3),
            "n" => format!("{count}"),
            "range" => [
                format!("{count}"),
                "<5".into(),
                "10-19".into(),
                "3+".into(),
                ">2".into(),
                "0".into(),
            ][i]
                .clone(),
            "most" => format!("{}", count + 3.0),
            "w" => format!("{:.3}", 0.5 + self.jitter[i] * 3.0),
            "m" => format!("{}", count + 2.0),
            "site" => ["north", "south"][i % 2].to_owned(),
            "spare" => ["", "text", "1e999", "-", "\"a,b\"", "nan"][i].to_owned(),
            other => other.to_owned(),
        }
    }

    /// A CSV table of some columns.
    pub fn csv(&self, columns: &[String]) -> String {
        let row = |i: usize| {
            columns
                .iter()
                .map(|name| self.cell(name, i))
                .collect::<Vec<_>>()
                .join(",")
        };
        let rows: Vec<String> = (0..self.n).map(row).collect();
        format!("{}\n{}\n", columns.join(","), rows.join("\n"))
    }

    /// A map of squares, with some columns as properties.
    pub fn map(&self, columns: &[String], geographic: bool) -> String {
        let feature = |i: usize| {
            let properties: Vec<String> = columns
                .iter()
                .map(|name| {
                    let cell = self.cell(name, i);
                    let value = match cell.parse::<f64>() {
                        Ok(number) if number.is_finite() => cell,
                        _ => format!("\"{}\"", cell.replace('"', "")),
                    };
                    format!("\"{name}\": {value}")
                })
                .collect();
            let (x, y) = ((i % 3) as f64, (i / 3) as f64);
            let scale = if geographic { 0.5 } else { 1.0 };
            let (x, y) = if geographic {
                (10.0 + x * scale, 50.0 + y * scale)
            } else {
                (x, y)
            };
            let ring = [
                (0.0, 0.0),
                (scale, 0.0),
                (scale, scale),
                (0.0, scale),
                (0.0, 0.0),
            ];
            let ring: Vec<String> = ring
                .iter()
                .map(|(dx, dy)| format!("[{}, {}]", x + dx, y + dy))
                .collect();
            let (kind, rings) = match i % 2 {
                0 => ("Polygon", format!("[[{}]]", ring.join(", "))),
                _ => ("MultiPolygon", format!("[[[{}]]]", ring.join(", "))),
            };
            format!(
                "{{\"type\": \"Feature\", \"id\": {i}, \"properties\": {{{}}}, \"geometry\": {{\"type\": \"{kind}\", \"coordinates\": {rings}}}}}",
                properties.join(", ")
            )
        };
        let features: Vec<String> = (0..self.n).map(feature).collect();
        format!(
            "{{\"type\": \"FeatureCollection\", \"features\": [\n{}\n]}}\n",
            features.join(",\n")
        )
    }

    /// Points of bags: two or three of every key.
    pub fn points(&self, draw: &mut Draw) -> String {
        let mut text = String::from("k,t,u,weight\n");
        for i in 0..self.n {
            for j in 0..2 + draw.below(2) {
                let (t, u) = (i as f64 + 0.3 * j as f64, draw.between(0.0, 2.0));
                text.push_str(&format!("{},{t},{u},{}\n", KEYS[i], 1 + draw.below(5)));
            }
        }
        text
    }
}
