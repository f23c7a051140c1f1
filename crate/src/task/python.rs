//! Text as Python writes it, where lm-eval's prompts and hashes depend on that.
//!
//! In: JSON values. Out: `str()`, `repr()` and `json.dumps(…, indent=2, ensure_ascii=False)` of the Python values they stand for.
//!
//! Source: Python 3.11's language reference and its `json` module.

use regex::Regex;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use serde_json::Value;
use std::fmt::Write as _;
use std::io;
use std::sync::LazyLock;

/// `str(value)`.
pub fn str_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

/// `repr(value)`.
pub fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => float_repr(float),
            _ => number.to_string(),
        },
        Value::String(text) => str_repr(text),
        Value::Array(items) => format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", str_repr(name), repr(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Quoted with `'`, or with `"` where that saves escapes.
fn str_repr(text: &str) -> String {
    // Python's str.isprintable: no control, format, unassigned or separator character but the space.
    static HIDDEN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{C}\p{Z}&&[^ ]]").expect("a constant pattern"));
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    let mut buffer = [0; 4];
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            c if c == quote => write!(out, "\\{c}"),
            c if !HIDDEN.is_match(c.encode_utf8(&mut buffer)) => out.write_char(c),
            c if u32::from(c) < 0x100 => write!(out, "\\x{:02x}", u32::from(c)),
            c if u32::from(c) < 0x1_0000 => write!(out, "\\u{:04x}", u32::from(c)),
            c => write!(out, "\\U{:08x}", u32::from(c)),
        };
    }
    out.push(quote);
    out
}

/// The shortest digits that read back; an exponent below 1e-4 and from 1e16 on.
fn float_repr(float: f64) -> String {
    let shortest = format!("{float:e}");
    let Some((digits, exponent)) = shortest.split_once('e') else {
        return shortest;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if (-4..16).contains(&exponent) => format!("{float:?}"),
        Ok(exponent) => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
        Err(_) => shortest,
    }
}

/// `json.dumps(value, indent=2, ensure_ascii=False)`.
pub fn json_dumps(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PythonJson(PrettyFormatter::new()));
    value.serialize(&mut serializer).expect("a JSON value goes into memory");
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

/// serde_json's indented form, with Python's floats.
struct PythonJson(PrettyFormatter<'static>);

impl Formatter for PythonJson {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float_repr(value).as_bytes())
    }
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }
    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }
    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }
    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }
    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }
    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }
    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }
    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

/// `text.capitalize()`: first character upper case, the rest lower case.
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars.as_str().to_lowercase().chars()).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_look_as_in_python() {
        // python3 -c 'print([None, True, 1.0, 1e-05, 1e16, 0.0001, 123456789012345.6, "it\x27s", "\"\x27\n\xa0\u2028\x07é"])'
        let value = json!([null, true, 1.0, 1e-5, 1e16, 0.0001, 123456789012345.6, "it's", "\"'\n\u{a0}\u{2028}\u{7}é"]);
        let expected = r#"[None, True, 1.0, 1e-05, 1e+16, 0.0001, 123456789012345.6, "it's", '"\'\n\xa0\u2028\x07é']"#;
        assert_eq!(repr(&value), expected);
        assert_eq!(str_of(&json!("as it is")), "as it is");
        assert_eq!(str_of(&json!({"a": ["b"]})), "{'a': ['b']}");
    }

    #[test]
    fn json_is_indented_as_python_does_it() {
        // python3 -c 'import json; print(json.dumps({"a": [], "b": {}, "c": [1e-07, "é\x7f\x01"]}, indent=2, ensure_ascii=False))'
        let value = json!({"a": [], "b": {}, "c": [1e-7, "é\u{7f}\u{1}"]});
        let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1e-07,\n    \"é\u{7f}\\u0001\"\n  ]\n}";
        assert_eq!(json_dumps(&value), expected);
    }

    #[test]
    fn capitalize_lowers_the_rest() {
        assert_eq!(capitalize("éN Été"), "Én été");
    }
}
