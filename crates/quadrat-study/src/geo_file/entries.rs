//! An object of JSON as names and unread values, in the order of the text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Names and values; null is an object without any.
pub struct Entries<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Entries(Vec::new()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        from.deserialize_any(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_numbers_are_kept_as_written() {
        let Entries(entries) = serde_json::from_str(r#"{"b": 1.50, "a": {"c": []}}"#).unwrap();
        let texts: Vec<(&str, &str)> = entries.iter().map(|(k, v)| (k.as_str(), v.get())).collect();
        assert_eq!(texts, [("b", "1.50"), ("a", r#"{"c": []}"#)]);
        let Entries(none) = serde_json::from_str("null").unwrap();
        assert!(none.is_empty());
        assert!(serde_json::from_str::<Entries<'_>>("3").is_err());
    }
}
