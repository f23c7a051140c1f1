//! YAML as every reader takes it.
//!
//! In: a value. Out: YAML 1.2 that PyYAML, which knows 1.1, reads as the same value: a text stands in double quotes unless it is a
//! plain word, so that `no` is not a boolean, `1:30` not a number and `2024-01-01` not a date.
//!
//! Source: yaml.org/type (1.1's implicit types); YAML 1.2.2, section 5.7 on escapes.

use serde_yaml_ng::Value;
use std::fmt::Write as _;

/// The value in block style, with a newline at the end.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Mapping(fields) if !fields.is_empty() => write_block(&mut out, value, 0),
        Value::Sequence(items) if !items.is_empty() => write_block(&mut out, value, 0),
        scalar => {
            write_scalar(&mut out, scalar);
            out.push('\n');
        }
    }
    out
}

/// Whether the value takes lines of its own.
fn is_block(value: &Value) -> bool {
    match value {
        Value::Mapping(fields) => !fields.is_empty(),
        Value::Sequence(items) => !items.is_empty(),
        _ => false,
    }
}

/// Writes from the current column, which is `indent`.
fn write_block(out: &mut String, value: &Value, indent: usize) {
    let separate = |out: &mut String, is_first: bool| {
        if !is_first {
            out.extend(std::iter::repeat_n(' ', indent));
        }
    };
    match value {
        Value::Mapping(fields) => {
            for (i, (name, value)) in fields.iter().enumerate() {
                separate(out, i == 0);
                write_scalar(out, name);
                out.push(':');
                if is_block(value) {
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', indent + 2));
                    write_block(out, value, indent + 2);
                } else {
                    out.push(' ');
                    write_scalar(out, value);
                    out.push('\n');
                }
            }
        }
        Value::Sequence(items) => {
            for (i, item) in items.iter().enumerate() {
                separate(out, i == 0);
                out.push_str("- ");
                if is_block(item) {
                    write_block(out, item, indent + 2);
                } else {
                    write_scalar(out, item);
                    out.push('\n');
                }
            }
        }
        scalar => write_scalar(out, scalar),
    }
}

fn write_scalar(out: &mut String, value: &Value) {
    // Writing to a string cannot fail.
    let _ = match value {
        Value::Null => write!(out, "null"),
        Value::Bool(flag) => write!(out, "{flag}"),
        Value::Number(number) => write!(out, "{number}"),
        Value::String(text) if is_plain(text) => write!(out, "{text}"),
        Value::String(text) => write!(out, "{}", quoted(text)),
        Value::Sequence(_) => write!(out, "[]"),
        Value::Mapping(_) => write!(out, "{{}}"),
        Value::Tagged(tagged) => {
            let _ = write!(out, "{} ", tagged.tag);
            write_scalar(out, &tagged.value);
            Ok(())
        }
    };
}

/// A word that no reader takes for anything but text.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    let is_word_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(is_word_char)
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            // Line breaks of YAML 1.1 among them, which would be folded.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                write!(out, "\\u{:04x}", u32::from(c))
            }
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_look_like_something_else_are_quoted() {
        let yaml = "a: [\"no\", \"Yes\", \"1:30\", \"2024-01-01\", \"~\", word, \"\", \"x: y\", 1.0, true, null, []]\nb:\n  c: !function m.f\n  d: [{e: 1, f: [g]}]\n";
        let value: Value = serde_yaml_ng::from_str(yaml).expect("YAML");
        let expected = "a:\n  - \"no\"\n  - \"Yes\"\n  - \"1:30\"\n  - \"2024-01-01\"\n  - \"~\"\n  - word\n  - \"\"\n  - \"x: y\"\n  - 1.0\n  - true\n  - null\n  - []\nb:\n  c: !function m.f\n  d:\n    - e: 1\n      f:\n        - g\n";
        assert_eq!(to_yaml(&value), expected);
        assert_eq!(serde_yaml_ng::from_str::<Value>(expected).expect("YAML"), value);
    }

    #[test]
    fn any_text_reads_back() {
        let text = "\"\\ \u{85}\u{2028}\n\t\u{7}\u{9f}é🙂 #: {{x}}\r ";
        let value = Value::Sequence(vec![text.into()]);
        assert_eq!(serde_yaml_ng::from_str::<Value>(&to_yaml(&value)).expect("YAML"), value);
    }
}
