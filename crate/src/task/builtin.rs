//! The functions that well-known tasks of lm-eval name by `!function`, which a page cannot run as Python.
//!
//! In: a row, as read. Out: a row with the fields that the function adds, a text, or an index. A function of another name is an
//! error that says so; where a name is common to many tasks (`utils.process_docs`), the row's fields must be that task's.
//!
//! Source: lm-eval 0.4.13: `hellaswag`, `winogrande`, `wikitext`, `truthfulqa`.

use super::config::{config_error, Function, TaskConfig};
use super::python;
use crate::error::{ErrorKind, EvalError, Result};
use regex::Regex;
use serde_json::{json, Value};
use std::sync::LazyLock;

/// `process_results` of TruthfulQA's mc2: `acc` is the probability that the gold choices have together.
pub const GOLD_PROBABILITY: &str = "utils.process_results_mc2";
/// `process_results` of WikiText: words and bytes are counted in the page as it was before clean-up.
pub const ORIGINAL_PAGE: &str = "preprocess_wikitext.process_results";

/// Checks the config's functions that are not called with a row.
///
/// # Errors
/// `ErrorKind::TaskConfig` for one that is not built in.
pub fn check_results(config: &TaskConfig) -> Result<()> {
    match &config.process_results {
        Some(Function(name)) if name != GOLD_PROBABILITY && name != ORIGINAL_PAGE => Err(unknown("process_results", name)),
        _ => Ok(()),
    }
}

fn unknown(field: &str, name: &str) -> EvalError {
    config_error(field, format!("!function {name} cannot run here and is not built in"))
}

/// The row after `process_docs`.
///
/// # Errors
/// `ErrorKind::TaskConfig` if the function is not built in; `ErrorKind::TaskFormat` if a field is of the wrong kind.
pub fn process_row(function: &Function, row: &Value) -> Result<Value> {
    let fields = ["activity_label", "ctx_a", "ctx_b", "endings", "label"];
    if function.0 != "utils.process_docs" || fields.iter().any(|field| row.get(field).is_none()) {
        return Err(unknown("process_docs", &function.0));
    }
    let ctx = format!("{} {}", text(row, "ctx_a")?, python::capitalize(text(row, "ctx_b")?));
    let endings = row["endings"].as_array().into_iter().flatten();
    let endings: Option<Vec<String>> = endings.map(|ending| ending.as_str().map(without_brackets)).collect();
    let endings = endings.ok_or_else(|| wrong("endings", "is not a list of texts"))?;
    let label = &row["label"];
    // A test split has empty labels.
    let gold = label.as_str().map_or_else(|| label.as_i64(), |label| label.trim().parse().ok());
    let gold = gold.ok_or_else(|| wrong("label", format!("is {label}, not a number")))?;
    let mut processed = row.clone();
    processed["query"] = json!(without_brackets(&format!("{}: {ctx}", text(row, "activity_label")?)));
    processed["choices"] = json!(endings);
    processed["gold"] = json!(gold);
    Ok(processed)
}

/// WikiHow's markup taken out.
fn without_brackets(text: &str) -> String {
    static BRACKETS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[.*?\]").expect("a constant pattern"));
    let text = text.trim().replace(" [title]", ". ");
    BRACKETS.replace_all(&text, "").replace("  ", " ")
}

/// The value of a `doc_to_*` function.
///
/// # Errors
/// `ErrorKind::TaskConfig` if it is not built in; `ErrorKind::TaskFormat` if the row is not as the function needs it.
pub fn call(field: &str, name: &str, row: &Value) -> Result<Value> {
    match name {
        "preprocess_winogrande.doc_to_text" => match text(row, "answer")? {
            "1" => Ok(json!(0)),
            "2" => Ok(json!(1)),
            other => Err(wrong("answer", format!("is \"{other}\", not \"1\" or \"2\""))),
        },
        "preprocess_winogrande.doc_to_choice" => {
            let (before, _) = blank(row)?;
            Ok(json!([format!("{before}{}", text(row, "option1")?), format!("{before}{}", text(row, "option2")?)]))
        }
        "preprocess_winogrande.doc_to_target" => Ok(json!(blank(row)?.1.trim())),
        "preprocess_wikitext.wikitext_detokenizer" => Ok(json!(detokenized(text(row, "page")?))),
        _ => Err(unknown(field, name)),
    }
}

fn blank(row: &Value) -> Result<(&str, &str)> {
    text(row, "sentence")?.split_once('_').ok_or_else(|| wrong("sentence", "has no blank \"_\""))
}

fn text<'a>(row: &'a Value, field: &str) -> Result<&'a str> {
    match row.get(field) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(wrong(field, format!("is {}, not a string", super::rows::kind(other)))),
        None => Err(EvalError::new(ErrorKind::Template, format!("the row has no field \"{field}\""))),
    }
}

fn wrong(field: &str, message: impl Into<String>) -> EvalError {
    EvalError::new(ErrorKind::TaskFormat, message).at(format!("key \"{field}\""))
}

/// WikiText's page without the spaces of its tokenisation.
fn detokenized(page: &str) -> String {
    // In the order of lm-eval; a pattern with groups is a regular expression, everything else a plain text.
    static PAIRS: LazyLock<[(Regex, &str); 5]> = LazyLock::new(|| {
        let pair = |pattern, by| (Regex::new(pattern).expect("a constant pattern"), by);
        [
            pair(r"\(\s*([^\)]*?)\s*\)", "(${1})"),
            pair(r"\[\s*([^\]]*?)\s*\]", "[${1}]"),
            pair(r"\{\s*([^}]*?)\s*\}", "{${1}}"),
            pair("\"\\s*([^\"]*?)\\s*\"", "\"${1}\""),
            pair(r"'\s*([^']*?)\s*'", "'${1}'"),
        ]
    });
    static DIGIT: LazyLock<Regex> = LazyLock::new(|| Regex::new("/' [0-9]/").expect("a constant pattern"));
    let replaced = |text: String, pairs: &[(&str, &str)]| pairs.iter().fold(text, |text, (from, to)| text.replace(from, to));
    // lm-eval's replacement is the literal text "/'[0-9]/".
    let mut text = DIGIT.replace_all(&page.replace("s '", "s'"), "/'[0-9]/").into_owned();
    text = replaced(
        text,
        &[(" @-@ ", "-"), (" @,@ ", ","), (" @.@ ", "."), (" : ", ": "), (" ; ", "; "), (" . ", ". "), (" ! ", "! "), (" ? ", "? "), (" , ", ", ")],
    );
    for (pattern, by) in PAIRS.iter() {
        text = pattern.replace_all(&text, *by).into_owned();
    }
    let last =
        [("= = = =", "===="), ("= = =", "==="), ("= =", "=="), (" \u{b0} ", "\u{b0}"), (" \n", "\n"), ("\n ", "\n"), (" N ", " 1 "), (" 's", "'s")];
    replaced(text, &last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hellaswags_markup_goes() {
        // lm-eval's `hellaswag.utils._process_doc` of the same row.
        let row = json!({"activity_label": "Pets", "ctx_a": "[header] How to [title] Choose.", "ctx_b": "ONE a", "endings": [" , x [step] y", "z"], "label": "1"});
        let function = Function("utils.process_docs".to_owned());
        let got = process_row(&function, &row).expect("a row");
        assert_eq!(got["query"], "Pets: How to. Choose. One a");
        assert_eq!((&got["choices"], &got["gold"]), (&json!([", x y", "z"]), &json!(1)));
        let error = process_row(&function, &json!({"question": "q"})).expect_err("another task's");
        assert!(error.message.contains("!function utils.process_docs cannot run here"), "{error}");
    }

    #[test]
    fn winogrande_splits_at_the_blank() {
        let row = json!({"sentence": "A _ b _ c.", "option1": "x", "option2": "y", "answer": "2"});
        let get = |name: &str| call("f", &format!("preprocess_winogrande.{name}"), &row).expect("a value");
        assert_eq!(get("doc_to_choice"), json!(["A x", "A y"]));
        assert_eq!((get("doc_to_target"), get("doc_to_text")), (json!("b _ c."), json!(1)));
        let no_blank = json!({"sentence": "none", "option1": "x", "option2": "y", "answer": "2"});
        assert!(call("f", "preprocess_winogrande.doc_to_choice", &no_blank).is_err());
    }

    #[test]
    fn wikitexts_spaces_go() {
        // lm-eval's `wikitext_detokenizer` of the same text.
        let page = " = Robert = \n The @-@ 1 @,@ 000 dogs ' ( a ) \" quoted \" , 5 \u{b0} N 's .\n";
        assert_eq!(detokenized(page), " = Robert =\nThe-1,000 dogs'(a) \"quoted\", 5\u{b0}N's .\n");
    }
}
