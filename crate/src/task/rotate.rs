//! The same rows with their choices in another order: a probe for models that like a letter more than an answer.
//!
//! In: rows and a shift. Out: rows whose choice at position `j` is the file's choice `(j + shift) mod K`, the gold moved along.
//! Works on the fields that hold the choices, before any template sees them, so that prompts list them in the new order.

use super::rows::{Row, Rows};
use crate::error::{ErrorKind, EvalError, Result};
use serde_json::Value;

/// Rotates the choices of every row.
///
/// # Errors
/// `TaskFormat`, at the line, where a row has no list of choices to rotate.
pub fn rotated(rows: &Rows, shift: usize) -> Result<Rows> {
    let rotate =
        |row: &Row| {
            let mut value = row.value.clone();
            let done = rotate_list(&mut value, "choices", "answer", shift)
                .or_else(|| rotate_list(&mut value, "endings", "label", shift))
                .or_else(|| rotate_labelled(&mut value, shift));
            match done {
                Some(()) => Ok(Row { value, ..row.clone() }),
                None => Err(EvalError::new(ErrorKind::TaskFormat, "the row has no list of choices to put into another order")
                    .at(format!("line {}", row.line))),
            }
        };
    Ok(Rows { rows: rows.rows.iter().map(rotate).collect::<Result<_>>()?, ..rows.clone() })
}

/// Where the choice at `old` stands after the shift.
fn moved(old: usize, shift: usize, n: usize) -> usize {
    (old + n - shift % n) % n
}

/// `{choices: [text], answer: index | letter | text}` and rows like it.
fn rotate_list(row: &mut Value, list: &str, gold: &str, shift: usize) -> Option<()> {
    let choices = row.get_mut(list)?.as_array_mut().filter(|c| !c.is_empty())?;
    let n = choices.len();
    choices.rotate_left(shift % n);
    let answer = row.get_mut(gold)?;
    let moved_answer = match &*answer {
        Value::Number(i) => Value::from(moved(usize::try_from(i.as_u64()?).ok().filter(|&i| i < n)?, shift, n)),
        Value::String(text) => match (text.parse::<usize>(), letter(text)) {
            (Ok(i), _) if i < n => Value::from(moved(i, shift, n).to_string()),
            (_, Some(i)) if i < n => Value::from(char::from(b'A' + moved(i, shift, n) as u8).to_string()),
            // The choice's own text stays what it is.
            _ => return Some(()),
        },
        _ => return Some(()),
    };
    *answer = moved_answer;
    Some(())
}

/// A single capital letter's position in the alphabet.
fn letter(text: &str) -> Option<usize> {
    match text.trim().as_bytes() {
        [c @ b'A'..=b'Z'] => Some(usize::from(c - b'A')),
        _ => None,
    }
}

/// `{choices: {text: […], label: […]}, answerKey: label}`: the texts move, the labels stay.
fn rotate_labelled(row: &mut Value, shift: usize) -> Option<()> {
    let labels: Vec<String> = row.get("choices")?.get("label")?.as_array()?.iter().map(|l| l.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let n = labels.len();
    let key = row.get("answerKey")?.as_str()?.trim().to_owned();
    let old = labels.iter().position(|l| *l == key)?;
    let texts = row.get_mut("choices")?.get_mut("text")?.as_array_mut().filter(|t| t.len() == n)?;
    texts.rotate_left(shift % n);
    row["answerKey"] = Value::from(labels[moved(old, shift, n)].clone());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rotate_one(value: Value, shift: usize) -> Value {
        let rows = Rows { name: String::new(), rows: vec![Row { line: 1, value }], bad: Vec::new(), sha256: String::new(), n_bytes: 0 };
        rotated(&rows, shift).expect("it has choices").rows.remove(0).value
    }

    #[test]
    fn the_gold_moves_with_its_choice_as_index_letter_and_label() {
        let index = rotate_one(json!({"choices": ["a", "b", "c"], "answer": 0}), 1);
        assert_eq!(index, json!({"choices": ["b", "c", "a"], "answer": 2}));
        let letter = rotate_one(json!({"choices": ["a", "b", "c"], "answer": "C"}), 2);
        assert_eq!(letter, json!({"choices": ["c", "a", "b"], "answer": "A"}));
        let text = rotate_one(json!({"choices": ["a", "b", "c"], "answer": "b"}), 1);
        assert_eq!(text, json!({"choices": ["b", "c", "a"], "answer": "b"}));
        let label = rotate_one(json!({"choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "1"}), 1);
        assert_eq!(label, json!({"choices": {"text": ["y", "x"], "label": ["1", "2"]}, "answerKey": "2"}));
    }

    #[test]
    fn a_whole_turn_changes_nothing() {
        let row = json!({"endings": ["a", "b", "c", "d"], "label": "3"});
        assert_eq!(rotate_one(row.clone(), 4), row);
    }
}
