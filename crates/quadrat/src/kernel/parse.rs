//! The expression syntax of kernels: `se(age) * periodic(t, period = 24) + linear(x, y)`.

use std::fmt;

use super::expression::Expression;
use super::leaf::{Kind, Leaf};

/// A kernel expression that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSyntaxError {
    /// The whole expression.
    pub expression: String,
    /// Byte offset of the character at fault.
    pub at: usize,
    /// What is wrong and how to mend it.
    pub message: String,
}

impl fmt::Display for KernelSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.expression[..self.at.min(self.expression.len())]
            .chars()
            .count();
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  {}", self.expression)?;
        // Not a width of the format: those end at 65,535.
        write!(f, "  {}^", " ".repeat(column))
    }
}

impl std::error::Error for KernelSyntaxError {}

/// How deep parentheses may nest; keeps recursion bounded on hostile input.
const MAX_DEPTH: usize = 64;
/// How many leaves an expression may have.
const MAX_LEAVES: usize = 64;

/// Reads an expression. `*` binds tighter than `+`.
pub(super) fn parse(text: &str) -> Result<Expression, KernelSyntaxError> {
    let mut parser = Parser {
        text,
        at: 0,
        leaves: 0,
    };
    parser.skip_space();
    if parser.at == text.len() {
        return Err(parser.error(0, "the kernel is empty; write for example se(x)"));
    }
    let expression = parser.sum(0)?;
    parser.skip_space();
    match parser.peek() {
        None => Ok(expression),
        Some(')') => Err(parser.error(parser.at, "this `)` closes nothing; remove it")),
        Some(c) => Err(parser.error(
            parser.at,
            format!("expected `+`, `*` or the end, found `{c}`"),
        )),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    leaves: usize,
}

impl Parser<'_> {
    fn error(&self, at: usize, message: impl Into<String>) -> KernelSyntaxError {
        KernelSyntaxError {
            expression: self.text.to_owned(),
            at,
            message: message.into(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_space(&mut self) {
        while let Some(c) = self.peek().filter(|c| c.is_whitespace()) {
            self.at += c.len_utf8();
        }
    }

    /// Consumes `c` after optional white space.
    fn eat(&mut self, c: char) -> bool {
        self.skip_space();
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn sum(&mut self, depth: usize) -> Result<Expression, KernelSyntaxError> {
        let mut terms = vec![self.product(depth)?];
        while self.eat('+') {
            terms.push(self.product(depth)?);
        }
        Ok(Expression::sum(terms))
    }

    fn product(&mut self, depth: usize) -> Result<Expression, KernelSyntaxError> {
        let mut factors = vec![self.atom(depth)?];
        while self.eat('*') {
            factors.push(self.atom(depth)?);
        }
        Ok(Expression::product(factors))
    }

    fn atom(&mut self, depth: usize) -> Result<Expression, KernelSyntaxError> {
        self.skip_space();
        let start = self.at;
        if self.eat('(') {
            if depth >= MAX_DEPTH {
                return Err(self.error(start, "parentheses are nested too deeply"));
            }
            let inner = self.sum(depth + 1)?;
            if !self.eat(')') {
                return Err(self.error(
                    self.at,
                    format!("expected `)` to close the `(` at character {}", start + 1),
                ));
            }
            return Ok(inner);
        }
        match self.peek() {
            Some(c) if c.is_alphabetic() || c == '_' => self.leaf(),
            Some(c) => Err(self.error(
                start,
                format!("expected a kernel such as se(x) or a `(`, found `{c}`"),
            )),
            None => Err(self.error(start, "the expression ends where a kernel should follow")),
        }
    }

    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let word = &rest[..end];
        self.at += end;
        word
    }

    fn leaf(&mut self) -> Result<Expression, KernelSyntaxError> {
        let start = self.at;
        let name = self.word().to_owned();
        let Some(kind) = Kind::ALL.into_iter().find(|k| k.name() == name) else {
            let names = Kind::ALL.map(Kind::name);
            if let Some(remedy) = of_neighbours(&name.to_lowercase()) {
                return Err(self.error(start, format!("there is no kernel `{name}`; {remedy}")));
            }
            let hint = names
                .iter()
                .find(|k| k.eq_ignore_ascii_case(&name) || long_name(&name.to_lowercase()) == **k)
                .map_or_else(
                    || format!("the kernels are {}", names.join(", ")),
                    |k| format!("did you mean `{k}`?"),
                );
            return Err(self.error(start, format!("there is no kernel `{name}`; {hint}")));
        };
        self.leaves += 1;
        if self.leaves > MAX_LEAVES {
            return Err(self.error(
                start,
                format!("more than {MAX_LEAVES} kernels in one expression"),
            ));
        }
        let mut leaf = Leaf {
            kind,
            columns: Vec::new(),
            shared: false,
            period: None,
            origin: None,
            levels: Vec::new(),
            rank: 1,
        };
        if self.eat('(') {
            self.arguments(&mut leaf)?;
        }
        if kind == Kind::Constant && !leaf.columns.is_empty() {
            return Err(self.error(start, "`constant` takes no columns; write `constant`"));
        }
        if kind != Kind::Constant && leaf.columns.is_empty() {
            return Err(self.error(
                start,
                format!("`{name}` needs the columns it acts on, for example {name}(x)"),
            ));
        }
        if kind == Kind::Iid && leaf.columns.len() > 1 {
            return Err(self.error(
                start,
                "`iid` takes one column of labels; an effect of every combination is a product, for example iid(site) * iid(year)",
            ));
        }
        if leaf.origin.is_some() && leaf.columns.len() > 1 {
            return Err(self.error(
                start,
                "`origin` is a place in one column; write a sum, for example linear(x, origin = 1) + linear(y, origin = 2)",
            ));
        }
        if kind == Kind::Coregion && leaf.levels.len() < 2 {
            return Err(self.error(
                start,
                "`coregion` needs the column that tells the outputs apart and at least two outputs, for example coregion(site, north, south)",
            ));
        }
        if leaf.rank > leaf.levels.len().max(1) {
            return Err(self.error(
                start,
                format!(
                    "rank {} is more than the {} outputs; a rank up to the number of outputs says all there is",
                    leaf.rank,
                    leaf.levels.len()
                ),
            ));
        }
        Ok(Expression::Leaf(leaf))
    }

    fn arguments(&mut self, leaf: &mut Leaf) -> Result<(), KernelSyntaxError> {
        if self.eat(')') {
            return Ok(());
        }
        loop {
            self.skip_space();
            let start = self.at;
            let (name, quoted) = self.column()?;
            self.skip_space();
            if !quoted && self.peek() == Some('=') {
                self.at += 1;
                self.option(leaf, &name, start)?;
            } else if leaf.kind == Kind::Coregion && !leaf.columns.is_empty() {
                if leaf.levels.contains(&name) {
                    return Err(self.error(
                        start,
                        format!("the output `{name}` stands twice; remove one"),
                    ));
                }
                leaf.levels.push(name);
            } else {
                if leaf.columns.contains(&name) {
                    return Err(self.error(
                        start,
                        format!("the column `{name}` stands twice in one kernel; remove one"),
                    ));
                }
                leaf.columns.push(name);
            }
            if self.eat(')') {
                return Ok(());
            }
            if !self.eat(',') {
                let found = self.peek().map_or("the end".into(), |c| format!("`{c}`"));
                let quotes = match self.peek() {
                    Some(c) if !"()*+=".contains(c) => {
                        "; a name with spaces or other signs stands in quotes"
                    }
                    _ => "",
                };
                let message = format!("expected `,` or `)`, found {found}{quotes}");
                return Err(self.error(self.at, message));
            }
        }
    }

    /// A column name: a word, or anything between quotes.
    fn column(&mut self) -> Result<(String, bool), KernelSyntaxError> {
        let start = self.at;
        if let Some(quote) = self.peek().filter(|c| *c == '\'' || *c == '"') {
            let rest = &self.text[start + 1..];
            let Some(end) = rest.find(quote) else {
                return Err(self.error(start, "this quote is not closed"));
            };
            self.at = start + end + 2;
            return Ok((rest[..end].to_owned(), true));
        }
        let word = self.word().to_owned();
        if word.is_empty() {
            let found = self.peek().map_or("the end".into(), |c| format!("`{c}`"));
            return Err(self.error(
                start,
                format!("expected a column name, found {found}; quote names with other characters: se('my column')"),
            ));
        }
        Ok((word, false))
    }

    fn option(
        &mut self,
        leaf: &mut Leaf,
        name: &str,
        start: usize,
    ) -> Result<(), KernelSyntaxError> {
        self.skip_space();
        let value_at = self.at;
        let rest = &self.text[value_at..];
        let end = rest
            .find(|c: char| c == ',' || c == ')' || c.is_whitespace())
            .unwrap_or(rest.len());
        let value = rest[..end].to_owned();
        self.at += end;
        let kind = leaf.kind;
        match name {
            "shared" if kind.has_lengthscale(2) => match value.as_str() {
                "true" => leaf.shared = true,
                "false" => leaf.shared = false,
                _ => {
                    return Err(self.error(
                        value_at,
                        format!("`shared` is true or false, found `{value}`"),
                    ));
                }
            },
            "rank" if kind == Kind::Coregion => match value.parse::<usize>() {
                Ok(rank) => leaf.rank = rank,
                Err(_) => {
                    return Err(self.error(
                        value_at,
                        format!("`rank` must be a whole number from 0, found `{value}`"),
                    ));
                }
            },
            "period" if kind == Kind::Periodic => match value.parse::<f64>() {
                Ok(period) if period.is_finite() && period > 0.0 => leaf.period = Some(period),
                _ => {
                    return Err(self.error(
                        value_at,
                        format!("`period` must be a positive number, found `{value}`"),
                    ));
                }
            },
            "origin" if kind == Kind::Linear => match value.parse::<f64>() {
                Ok(origin) if origin.is_finite() => leaf.origin = Some(origin),
                _ => {
                    return Err(self.error(
                        value_at,
                        format!("`origin` must be a number, found `{value}`"),
                    ));
                }
            },
            _ => {
                let allowed = match kind {
                    Kind::Periodic => "`shared` and `period`",
                    Kind::Constant | Kind::Iid => "no options",
                    Kind::Linear => "`shared` and `origin`",
                    Kind::Coregion => "`rank`",
                    _ => "`shared`",
                };
                return Err(self.error(
                    start,
                    format!(
                        "`{}` has no option `{name}`; it takes {allowed}",
                        kind.name()
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// The short word for a name people know from elsewhere.
/// What takes the place of models of neighbouring areas.
fn of_neighbours(name: &str) -> Option<&'static str> {
    let is_one = ["bym", "bym2", "car", "icar", "besag", "leroux"].contains(&name);
    is_one.then_some(
        "areas are near each other by where they lie, not by a list of neighbours: `matern32(x, y) + iid(district)` has a smooth part and one of each area alone",
    )
}

fn long_name(name: &str) -> &str {
    match name {
        "rbf" | "eq" | "gaussian" | "exponentiatedquadratic" | "squaredexponential" => "se",
        "exponential" | "matern1" | "ou" => "matern12",
        "matern3" => "matern32",
        "matern" | "matern5" => "matern52",
        "rationalquadratic" | "rational_quadratic" => "rq",
        "bias" | "const" => "constant",
        "per" | "cosine" => "periodic",
        "lin" | "dot" => "linear",
        "category" | "categorical" | "group" | "label" | "random" | "re" | "white" => "iid",
        other => other,
    }
}
