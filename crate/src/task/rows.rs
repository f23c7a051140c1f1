//! The bytes of a task file → rows, each with its line.
//!
//! In: JSON Lines (one object a line, split on `\n` only) or CSV, UTF-8, with or without a byte order mark. Out: `Rows`.
//! A malformed line among good ones becomes `Unscored`; a file without any good line is an error. What the fields mean is
//! left to the config.
//!
//! Source: jsonlines.org; RFC 4180 for CSV; the header-less `question,A,B,C,D,answer` of MMLU's original files
//! (Hendrycks et al. 2021) becomes the row that the data set has on the hub.

use super::doc::Unscored;
use crate::error::{ErrorKind, EvalError, Result};
use crate::hash::sha256_hex;
use serde_json::{Map, Value};

/// One row of a task file.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Line of the file where it starts, from 1.
    pub line: usize,
    /// A JSON object.
    pub value: Value,
}

/// A task file, read.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The file's name.
    pub name: String,
    /// In file order, at least one.
    pub rows: Vec<Row>,
    /// Lines that are no rows.
    pub bad: Vec<Unscored>,
    /// Of the whole file, in hex.
    pub sha256: String,
    /// Size of the file.
    pub n_bytes: usize,
}

/// Reads a task file. CSV is told by the name's ending `.csv`, everything else is JSON Lines.
///
/// # Errors
/// `ErrorKind::TaskFormat` if the file is empty, is not text, or has no row at all.
pub fn read_rows(name: &str, bytes: &[u8]) -> Result<Rows> {
    let error = |message: &str| Err(EvalError::new(ErrorKind::TaskFormat, message).at(format!("file \"{name}\"")));
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if text.trim_ascii().is_empty() {
        return error("file is empty");
    }
    // No JSON Lines or CSV file has a zero byte; a model, an archive, a Parquet file and UTF-16 text do.
    if text.contains(&0) {
        return error("file is binary or not UTF-8 text");
    }
    let (rows, bad) = if name.to_ascii_lowercase().ends_with(".csv") {
        csv_rows(name, text)?
    } else {
        if text.trim_ascii_start().starts_with(b"[") {
            return error("file is one JSON array, not one JSON object a line");
        }
        json_rows(text)
    };
    if rows.is_empty() {
        return Err(match bad.into_iter().next() {
            Some(first) => {
                let place = format!("file \"{name}\", {}", first.error.place.unwrap_or_default());
                EvalError { place: Some(place), ..first.error }
            }
            None => EvalError::new(ErrorKind::TaskFormat, "file has no rows").at(format!("file \"{name}\"")),
        });
    }
    Ok(Rows { name: name.to_owned(), rows, bad, sha256: sha256_hex(bytes), n_bytes: bytes.len() })
}

fn bad_line(line: usize, message: impl Into<String>) -> Unscored {
    let error = EvalError::new(ErrorKind::TaskFormat, message).at(format!("line {line}"));
    Unscored { index: None, line, error }
}

/// Blank lines are passed over.
fn json_rows(text: &[u8]) -> (Vec<Row>, Vec<Unscored>) {
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    for (i, bytes) in text.split(|&byte| byte == b'\n').enumerate() {
        let line = i + 1;
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(bytes) {
            Ok(value @ Value::Object(_)) => rows.push(Row { line, value }),
            Ok(other) => bad.push(bad_line(line, format!("line is {}, not a JSON object", kind(&other)))),
            // serde_json says "at line 1 column c"; the line is ours to name.
            Err(e) => {
                let text = e.to_string();
                let reason = text.split(" at line ").next().unwrap_or_default();
                bad.push(bad_line(line, format!("not JSON at column {}: {reason}", e.column())));
            }
        }
    }
    (rows, bad)
}

/// What sort of JSON value it is, with its article.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct Record {
    line: usize,
    fields: Vec<String>,
}

/// Splits CSV into records. A quote that is never closed takes the rest of the file.
fn csv_records(text: &str) -> Vec<Record> {
    let (mut records, mut fields, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut start, mut quoted) = (1, 1, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                fields.push(std::mem::take(&mut field));
                records.push(Record { line: start, fields: std::mem::take(&mut fields) });
                start = line;
            }
            _ => field.push(c),
        }
    }
    if !fields.is_empty() || !field.is_empty() {
        fields.push(field);
        records.push(Record { line: start, fields });
    }
    records.retain(|record| record.fields.iter().any(|field| !field.trim().is_empty()));
    records
}

fn csv_rows(name: &str, bytes: &[u8]) -> Result<(Vec<Row>, Vec<Unscored>)> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        EvalError::new(ErrorKind::TaskFormat, "not UTF-8 text").at(format!("file \"{name}\", line {line}"))
    })?;
    let mut records = csv_records(text);
    let is_mmlu = records.first().is_some_and(|first| mmlu_row(&first.fields, name).is_some());
    let header = if is_mmlu || records.is_empty() { Vec::new() } else { records.remove(0).fields };
    let header: Vec<&str> = header.iter().map(|field| field.trim()).collect();
    let n_fields = if is_mmlu { 6 } else { header.len() };
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    for Record { line, fields } in records {
        if fields.len() != n_fields {
            bad.push(bad_line(line, format!("record has {} fields, expected {n_fields}", fields.len())));
        } else if !is_mmlu {
            rows.push(Row { line, value: headed_row(&header, fields) });
        } else if let Some(value) = mmlu_row(&fields, name) {
            rows.push(Row { line, value });
        } else {
            bad.push(bad_line(line, format!("answer is \"{}\", not one of A, B, C, D", fields[5])));
        }
    }
    Ok((rows, bad))
}

/// `question,A,B,C,D,answer` with the answer as a letter; the subject is in the file's name, such as `anatomy_test.csv`.
fn mmlu_row(fields: &[String], name: &str) -> Option<Value> {
    let [question, choices @ .., answer] = fields else { return None };
    let answer = ["A", "B", "C", "D"].iter().position(|letter| *letter == answer.trim())?;
    if choices.len() != 4 {
        return None;
    }
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let subject = ["_test", "_dev", "_val"].iter().find_map(|ending| stem.strip_suffix(ending)).unwrap_or(stem);
    Some(serde_json::json!({ "question": question, "subject": subject, "choices": choices, "answer": answer }))
}

/// A row by the header's names. Columns `A`, `B`, … beside a `question` are its choices (the empty ones left out), and a
/// column `choices` may hold a JSON list.
fn headed_row(header: &[&str], fields: Vec<String>) -> Value {
    let n_letters = (b'A'..=b'Z').take_while(|letter| header.contains(&&*char::from(*letter).to_string())).count();
    let has_letters = n_letters > 1 && header.contains(&"question") && !header.contains(&"choices");
    let (mut row, mut choices) = (Map::new(), Vec::new());
    for (name, field) in header.iter().zip(fields) {
        let is_letter = name.len() == 1 && name.as_bytes()[0].wrapping_sub(b'A') < n_letters as u8;
        if has_letters && is_letter {
            if !field.is_empty() {
                choices.push(Value::String(field));
            }
            // Takes its place at the first letter.
            row.entry("choices").or_insert(Value::Null);
            continue;
        }
        let list = (*name == "choices").then(|| serde_json::from_str(&field).ok()).flatten();
        row.insert((*name).to_owned(), list.unwrap_or(Value::String(field)));
    }
    if has_letters {
        row.insert("choices".to_owned(), Value::Array(choices));
    }
    Value::Object(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(name: &str, text: &str) -> Rows {
        read_rows(name, text.as_bytes()).expect("rows")
    }

    #[test]
    fn lines_end_at_newlines_alone() {
        let rows = read("a.jsonl", "\u{feff}{\"q\": \"one\u{2028}two\u{85}three\"}\r\n\n{\"q\": 2}");
        let got: Vec<_> = rows.rows.iter().map(|row| (row.line, row.value.clone())).collect();
        assert_eq!(got, [(1, json!({"q": "one\u{2028}two\u{85}three"})), (3, json!({"q": 2}))]);
    }

    #[test]
    fn a_malformed_line_among_good_ones_is_set_aside() {
        let rows = read("a.jsonl", "{\"q\": 1}\n{\"q\": \n[1]\n{\"q\": 4}\n");
        assert_eq!(rows.rows.len(), 2);
        let places: Vec<_> = rows.bad.iter().map(|bad| bad.error.to_string()).collect();
        assert!(places[0].starts_with("task_format: line 2: not JSON at column 6"), "{places:?}");
        assert_eq!(places[1], "task_format: line 3: line is a list, not a JSON object");
    }

    #[test]
    fn bytes_that_are_not_utf8_spoil_their_line_alone() {
        let rows = read_rows("a.jsonl", b"{\"q\": \"\xff\"}\n{\"q\": 2}\n").expect("one good row");
        assert_eq!((rows.rows.len(), rows.bad.len()), (1, 1));
    }

    #[test]
    fn empty_binary_and_foreign_files_are_errors() {
        for bytes in [&b""[..], b" \n\n", b"\xef\xbb\xbf", b"GGUF\x03\0\0\0", b"[{\"q\": 1}]", b"hello\nworld\n"] {
            let error = read_rows("x.jsonl", bytes).expect_err("no rows");
            assert_eq!(error.kind, ErrorKind::TaskFormat);
            assert!(error.place.as_deref().is_some_and(|place| place.starts_with("file \"x.jsonl\"")), "{error}");
        }
    }

    #[test]
    fn mmlus_own_csv_becomes_the_hubs_row() {
        let rows = read("data/high_school_physics_test.csv", "\"Which, if\n\"\"any\"\"?\",0,\"1,5\",2,3,B\nTwo?,a,b,c,d,D\n");
        assert_eq!(
            rows.rows[0].value.to_string(),
            r#"{"question":"Which, if\n\"any\"?","subject":"high_school_physics","choices":["0","1,5","2","3"],"answer":1}"#
        );
        assert_eq!(rows.rows[1].line, 3);
    }

    #[test]
    fn a_csv_with_a_header_has_its_names() {
        let rows = read("t.csv", "id,question,A,B,C,answer\r\n7,Why?,x,y,,B\r\n8,short\r\n");
        assert_eq!(rows.rows[0].value, json!({"id": "7", "question": "Why?", "choices": ["x", "y"], "answer": "B"}));
        assert_eq!(rows.bad[0].error.message, "record has 2 fields, expected 6");
        let rows = read("t.csv", "question,choices,answer\nWhy?,\"[\"\"x\"\", \"\"y\"\"]\",x\n");
        assert_eq!(rows.rows[0].value["choices"], json!(["x", "y"]));
    }
}
