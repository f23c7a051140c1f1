//! Jinja templates as lm-eval renders them.
//!
//! In: a template and a row. Out: text, or the value of a template that is one expression. Undefined names are errors, the last
//! newline stays, strings and lists have Python's methods, and `{{…}}` writes a value as Python's `str` does.
//!
//! Source: lm-eval 0.4.13, `utils.apply_template`; Jinja's documentation.

use super::python;
use crate::error::{ErrorKind, EvalError, Result};
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind as JinjaError, State, UndefinedBehavior, Value};
use minijinja_contrib::pycompat;
use regex::Regex;
use std::sync::LazyLock;

/// The environment that all templates of a task share.
pub struct Templates {
    env: Environment<'static>,
}

impl Default for Templates {
    /// lm-eval's environment.
    fn default() -> Self {
        let mut env = python_environment();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_keep_trailing_newline(true);
        env.add_filter("regex_replace", regex_replace);
        Self { env }
    }
}

impl Templates {
    /// The rendered text.
    ///
    /// # Errors
    /// `ErrorKind::Template`; where a field is missing, it is named.
    pub fn text(&self, source: &str, row: &Value) -> Result<String> {
        let template = self.env.template_from_str(source).map_err(|e| error(&e))?;
        template.render(row).map_err(|e| {
            let missing = template.undeclared_variables(true).into_iter().find(|name| !has(row, name));
            undefined(&e, missing)
        })
    }

    /// The value of a template that is a single `{{expression}}`; what any other template renders, read as a Python literal where
    /// `literal` says so.
    ///
    /// # Errors
    /// `ErrorKind::Template`; where a field is missing, it is named.
    pub fn value(&self, source: &str, row: &Value, literal: Literal) -> Result<Value> {
        if let Some(expression) = single_expression(source) {
            if let Ok(expression) = self.env.compile_expression(expression) {
                let missing = || expression.undeclared_variables(true).into_iter().find(|name| !has(row, name));
                return match expression.eval(row) {
                    Ok(value) if !is_undefined(&value) => Ok(value),
                    Ok(_) => Err(undefined(&Error::from(JinjaError::UndefinedError), missing())),
                    Err(e) => Err(undefined(&e, missing())),
                };
            }
        }
        let text = self.text(source, row)?;
        match literal {
            Literal::Read => self.literal(&text),
            Literal::Text => Ok(Value::from(text)),
        }
    }

    /// A Python literal: lists, strings, numbers.
    ///
    /// # Errors
    /// `ErrorKind::Template` if it is none.
    pub fn literal(&self, text: &str) -> Result<Value> {
        let value = match ends_early(text) {
            true => None,
            false => self.env.compile_expression(text.trim()).and_then(|expression| expression.eval(())).ok(),
        };
        value.ok_or_else(|| EvalError::new(ErrorKind::Template, format!("rendered text is no list: {text}")))
    }
}

/// Whether rendered text stands for itself or for a Python literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literal {
    /// It is a literal.
    Read,
    /// It is text.
    Text,
}

/// What task and chat templates share.
pub(super) fn python_environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_unknown_method_callback(python_method);
    env.add_filter("replace", replace);
    env.set_formatter(|out, state, value| match (value.kind(), state.env().undefined_behavior()) {
        (ValueKind::Undefined, UndefinedBehavior::Strict) => Err(Error::from(JinjaError::UndefinedError)),
        (ValueKind::Undefined, _) => Ok(()),
        _ => Ok(out.write_str(&to_text(value))?),
    });
    env
}

/// Python's `str` of a value.
pub fn to_text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_value(value).map_or_else(|_| value.to_string(), |json| python::str_of(&json)),
    }
}

/// minijinja-contrib's methods, and `index` of lists and strings.
fn python_method(state: &State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let ("index", [wanted]) = (method, args) else {
        return pycompat::unknown_method_callback(state, value, method, args);
    };
    let position = match (value.as_str(), wanted.as_str()) {
        (Some(text), Some(wanted)) => text.find(wanted).map(|at| text[..at].chars().count()),
        _ => value.try_iter()?.position(|item| item == *wanted),
    };
    let message = || format!("{} is not in {}", repr(wanted), repr(value));
    position.map(Value::from).ok_or_else(|| Error::new(JinjaError::InvalidOperation, message()))
}

fn repr(value: &Value) -> String {
    serde_json::to_value(value).map_or_else(|_| value.to_string(), |json| python::repr(&json))
}

/// Jinja's filter, which minijinja has without the count.
fn replace(text: &str, old: &str, new: &str, count: Option<usize>) -> String {
    text.replacen(old, new, count.unwrap_or(usize::MAX))
}

/// Python's `re.sub`; without look-around and back-references in the pattern.
fn regex_replace(text: &str, pattern: &str, replacement: &str, count: Option<usize>) -> Result<String, Error> {
    let regex = Regex::new(pattern).map_err(|e| Error::new(JinjaError::InvalidOperation, format!("regex_replace: pattern {pattern}: {e}")))?;
    let groups = Regex::new(r"\\g<(\w+)>|\\(\d+)").expect("a constant pattern");
    let escaped = replacement.replace('$', "$$");
    let replacement = groups.replace_all(&escaped, "$${$1$2}").replace("\\n", "\n").replace("\\\\", "\\");
    Ok(regex.replacen(text, count.unwrap_or(0), replacement).into_owned())
}

/// The inside of `{{…}}`, if that is the whole text and one expression.
fn single_expression(source: &str) -> Option<&str> {
    let inside = source.strip_prefix("{{")?.strip_suffix("}}")?;
    let inside = inside.strip_prefix('-').unwrap_or(inside);
    let inside = inside.strip_suffix('-').unwrap_or(inside);
    (!ends_early(inside)).then_some(inside)
}

/// Braces close outside a string, as in the inside of `{{a}} {{b}}`: minijinja's parser of expressions panics there.
fn ends_early(expression: &str) -> bool {
    static STRING: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(?s)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*""#).expect("a constant pattern"));
    STRING.replace_all(expression, "''").contains("}}")
}

/// Whether the value is undefined, or a list with such a value in it.
fn is_undefined(value: &Value) -> bool {
    let mut items = (value.kind() == ValueKind::Seq).then(|| value.try_iter().ok()).flatten().into_iter().flatten();
    value.is_undefined() || items.any(|item| item.is_undefined())
}

/// Whether a dotted name is in the row.
fn has(row: &Value, dotted: &str) -> bool {
    let mut value = row.clone();
    dotted.split('.').all(|name| {
        // What is no object may have a method of that name.
        if value.kind() != ValueKind::Map {
            return true;
        }
        value = value.get_attr(name).unwrap_or_default();
        !value.is_undefined()
    })
}

/// The error of a rendering, with the missing field's name where that was the trouble.
fn undefined(e: &Error, missing: Option<String>) -> EvalError {
    match missing {
        Some(name) => EvalError::new(ErrorKind::Template, format!("the row has no field \"{name}\"")),
        None => error(e),
    }
}

/// The message of an error of minijinja.
pub(super) fn error(e: &Error) -> EvalError {
    let kind = match e.kind() {
        JinjaError::UndefinedError => "undefined value".to_owned(),
        kind => kind.to_string(),
    };
    let message = e.detail().map_or(kind.clone(), |detail| format!("{kind}: {detail}"));
    EvalError::new(ErrorKind::Template, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(source: &str, row: serde_json::Value) -> Result<String> {
        Templates::default().text(source, &Value::from_serialize(row))
    }

    #[test]
    fn the_last_newline_stays_and_blocks_keep_their_lines() {
        let got = text("{% if a %}\n  {{a.strip()}}\n{% endif %}\n", json!({"a": " x "}));
        assert_eq!(got.as_deref(), Ok("\n  x\n\n"));
    }

    #[test]
    fn a_missing_field_is_named() {
        let row = || json!({"question": "q", "choices": {"text": ["x"]}});
        let message = |source| text(source, row()).expect_err("missing").message;
        assert_eq!(message("{{question}} {{context}}"), "the row has no field \"context\"");
        assert_eq!(message("{{choices.label}}"), "the row has no field \"choices.label\"");
        assert_eq!(message("{{choices.text[4]}}"), "undefined value");
        let value = Templates::default().value("{{nothing}}", &Value::from_serialize(row()), Literal::Read);
        assert_eq!(value.expect_err("missing").message, "the row has no field \"nothing\"");
        let value = Templates::default().value("{{[question, other]}}", &Value::from_serialize(row()), Literal::Read);
        assert_eq!(value.expect_err("missing").message, "the row has no field \"other\"");
    }

    #[test]
    fn values_are_written_as_python_writes_them() {
        let row = json!({"a": true, "b": null, "c": [1, "x"], "d": 1e-5});
        assert_eq!(text("{{a}} {{b}} {{c}} {{d}}", row).as_deref(), Ok("True None [1, 'x'] 1e-05"));
    }

    #[test]
    fn lists_have_an_index_and_strings_split() {
        let row = json!({"choices": {"label": ["1", "2"]}, "key": "2", "text": "a  b c"});
        let got = text("{{choices.label.index(key)}}|{{text.split(' ')[:-1]|join(' ')}}|{{text.split(' ')[-1]}}", row);
        assert_eq!(got.as_deref(), Ok("1|a  b|c"));
        let error = text("{{choices.index('z')}}", json!({"choices": ["a"]})).expect_err("not in it");
        assert!(error.message.ends_with("'z' is not in ['a']"), "{error}");
    }

    #[test]
    fn regex_replace_is_pythons_sub() {
        // python3 -c 'import re; print(re.sub(r"(\w+) \$(\d)", r"\2 for \g<1>$", "pay $5 or give $7"))'
        let got = text(r#"{{t|regex_replace('(\\w+) \\$(\\d)', '\\2 for \\g<1>$')}}"#, json!({"t": "pay $5 or give $7"}));
        assert_eq!(got.as_deref(), Ok("5 for pay$ or 7 for give$"));
        assert!(text("{{t|regex_replace('(', '')}}", json!({"t": ""})).is_err());
    }

    #[test]
    fn texts_that_begin_and_end_with_braces_are_no_expressions() {
        let row = Value::from_serialize(json!({"a": "x", "b": "y"}));
        let value = |source| Templates::default().value(source, &row, Literal::Text).map(|value| to_text(&value));
        assert_eq!(value("{{a}} {{b}}").as_deref(), Ok("x y"));
        assert_eq!(value("{{a.strip()}}{% if b %}{{b}}").map_err(|e| e.kind), Err(ErrorKind::Template));
        assert_eq!(value("{{'}}' ~ a}}").as_deref(), Ok("}}x"));
        assert!(Templates::default().literal("[a]}} b]").is_err());
    }

    #[test]
    fn a_rendered_literal_is_read() {
        let row = Value::from_serialize(json!({"a": "x"}));
        let value = Templates::default().value("['{{a}}', 'it\\'s']", &row, Literal::Read).expect("a list");
        assert_eq!(serde_json::to_value(value).ok(), Some(json!(["x", "it's"])));
    }
}
