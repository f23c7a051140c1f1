//! One row → the requests of its doc: fields resolved, examples in front, chat template around.
//!
//! In: a config, a row, the rows shown as examples. Out: contexts, continuations, choices, gold and target.
//!
//! Source: lm-eval 0.4.13, `ConfigurableTask.fewshot_context`, `construct_requests`, `doc_to_text`, `doc_to_target`,
//! `doc_to_choice`, `process_results`.
// DIFFERS: a question that is nothing but digits stays text where the task has one context for all choices; lm-eval stops there.
// DIFFERS: choices that are numbers become text; lm-eval stops there. A gold outside the choices is an error of its row; lm-eval
// scores the row as wrong.

use super::builtin;
use super::chat::{ChatTemplate, Message};
use super::config::{FewshotConfig, Field, TaskConfig};
use super::doc::{OutputType, Request};
use super::python;
use super::rows::kind;
use super::template::{to_text, Literal, Templates};
use crate::error::{ErrorKind, EvalError, Result};
use crate::spec::ChatMode;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a row becomes.
pub struct Prompted {
    /// One a choice, or one.
    pub requests: Vec<Request>,
    /// Texts whose lengths count.
    pub choices: Vec<String>,
    /// Right choices.
    pub gold: Vec<usize>,
    /// lm-eval's target.
    pub target: Value,
}

/// Everything that is the same for all rows.
pub struct Prompter<'a> {
    /// The task.
    pub config: &'a TaskConfig,
    /// Names of the columns.
    pub columns: BTreeSet<&'a str>,
    /// Each choice has a context of its own, what follows is shared (WinoGrande).
    pub multiple_input: bool,
    /// Text in front of the description.
    pub system_instruction: Option<&'a str>,
    /// Chat use, with the template.
    pub chat: Option<(&'a ChatTemplate, ChatMode)>,
    templates: Templates,
}

/// A piece of a context: who says it, what, and what follows where there is no chat.
struct Turn {
    role: &'static str,
    content: String,
    delimiter: String,
}

/// A row in both forms: JSON to take columns from, and Jinja's.
struct Variables<'r> {
    row: &'r Value,
    jinja: minijinja::Value,
}

impl<'r> Variables<'r> {
    fn new(row: &'r Value) -> Self {
        Self { row, jinja: minijinja::Value::from_serialize(row) }
    }
}

fn row_error(message: impl Into<String>) -> EvalError {
    EvalError::new(ErrorKind::TaskFormat, message)
}

impl<'a> Prompter<'a> {
    /// `first` is the row that decides whether the task has several contexts a doc, as in lm-eval.
    pub fn new(config: &'a TaskConfig, columns: BTreeSet<&'a str>, first: &Value) -> Self {
        let mut prompter = Self { config, columns, multiple_input: false, system_instruction: None, chat: None, templates: Templates::default() };
        // A first row that fails here fails again, with its line, when its turn comes.
        let text = prompter.value("doc_to_text", &config.doc_to_text, &Variables::new(first));
        let text = text.map(|text| prompter.with_digits(text));
        prompter.multiple_input = config.doc_to_choice.is_some() && text.is_ok_and(|text| text.is_u64());
        prompter
    }

    /// The value of a field before it is taken for a text, a list or an index.
    fn value(&self, name: &str, field: &Field, variables: &Variables) -> Result<Value> {
        let value = match field {
            Field::Text(column) if self.columns.contains(column.as_str()) => {
                let value = variables.row.get(column).cloned();
                value.ok_or_else(|| row_error(format!("the row has no field \"{column}\"")))
            }
            Field::Text(template) if name == "doc_to_choice" => self.templates.value(template, &variables.jinja, Literal::Read).and_then(json),
            Field::Text(template) => self.templates.value(template, &variables.jinja, Literal::Text).and_then(|value| {
                let is_list = value.kind() == minijinja::value::ValueKind::Seq;
                if is_list {
                    json(value)
                } else {
                    Ok(Value::String(to_text(&value)))
                }
            }),
            Field::Index(index) => Ok(Value::from(*index)),
            Field::List(items) => Ok(Value::from(items.clone())),
            Field::Function(function) => builtin::call(name, function, variables.row),
        };
        value.map_err(|e| if e.place.is_some() { e } else { e.at(format!("field \"{name}\"")) })
    }

    /// Digits of a template are an index where the task has choices.
    fn with_digits(&self, value: Value) -> Value {
        let digits = value.as_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.and_then(|text| text.parse::<u64>().ok()) {
            Some(index) if self.config.doc_to_choice.is_some() => Value::from(index),
            _ => value,
        }
    }

    fn is_column(&self, field: &Field) -> bool {
        matches!(field, Field::Text(column) if self.columns.contains(column.as_str()))
    }

    fn text(&self, field: &Field, variables: &Variables) -> Result<String> {
        match self.value("doc_to_text", field, variables)? {
            Value::String(text) => Ok(text),
            other => Err(row_error(format!("is {}, not a text", kind(&other))).at("field \"doc_to_text\"")),
        }
    }

    fn target(&self, field: &Field, variables: &Variables) -> Result<Value> {
        let value = self.value("doc_to_target", field, variables)?;
        if self.is_column(field) || matches!(field, Field::Function(_)) {
            return Ok(value);
        }
        match value.as_str() {
            // A list that a template has written out.
            Some(text) if text.len() >= 2 && text.starts_with('[') && text.ends_with(']') => {
                Ok(self.templates.literal(text).and_then(json).unwrap_or(value))
            }
            _ => Ok(self.with_digits(value)),
        }
    }

    fn choices(&self, field: &Field, variables: &Variables) -> Result<Vec<String>> {
        match self.value("doc_to_choice", field, variables)? {
            Value::Array(items) => Ok(items.iter().map(python::str_of).collect()),
            other => Err(row_error(format!("is {}, not a list", kind(&other))).at("field \"doc_to_choice\"")),
        }
    }

    /// System instruction and description.
    fn system(&self, variables: &Variables) -> Result<Option<Turn>> {
        let description = match self.config.description.as_str() {
            "" => String::new(),
            column if self.columns.contains(column) => python::str_of(&variables.row[column]),
            template => self.templates.text(template, &variables.jinja).map_err(|e| e.at("field \"description\""))?,
        };
        let instruction = self.system_instruction.unwrap_or_default();
        let meets_space = instruction.ends_with(char::is_whitespace) || description.starts_with(char::is_whitespace);
        let needs_delimiter = !instruction.is_empty() && !description.is_empty() && !meets_space;
        let delimiter = if needs_delimiter { self.config.fewshot_delimiter.as_str() } else { "" };
        let content = format!("{instruction}{delimiter}{description}");
        Ok((!content.is_empty()).then(|| Turn { role: "system", content, delimiter: String::new() }))
    }

    /// What keeps a row from being an example.
    pub fn example_error(&self, row: &Value) -> Option<EvalError> {
        self.example(row, &mut Vec::new()).err()
    }

    /// An example: its question and its answer.
    fn example(&self, row: &Value, turns: &mut Vec<Turn>) -> Result<()> {
        let variables = Variables::new(row);
        let none = FewshotConfig::default();
        let own = self.config.fewshot_config.as_ref().unwrap_or(&none);
        let text = own.doc_to_text.as_ref().unwrap_or(&self.config.doc_to_text);
        let choices = match own.doc_to_choice.as_ref().or(self.config.doc_to_choice.as_ref()) {
            Some(field) => self.choices(field, &variables)?,
            None => Vec::new(),
        };
        let target = self.target(own.doc_to_target.as_ref().unwrap_or(&self.config.doc_to_target), &variables)?;
        let (question, answer) = if self.multiple_input {
            let index = self.with_digits(self.value("doc_to_text", text, &variables)?);
            (nth(&choices, &index)?.clone(), python::str_of(&target))
        } else {
            let answer = match &target {
                Value::Number(_) | Value::Bool(_) => nth(&choices, &target)?.clone(),
                // The first of several right ones.
                Value::Array(targets) => match targets.first() {
                    Some(Value::String(text)) => text.clone(),
                    Some(first) => nth(&choices, first)?.clone(),
                    None => return Err(row_error("the list of right answers is empty").at("field \"doc_to_target\"")),
                },
                Value::String(text) => text.clone(),
                other => return Err(row_error(format!("is {}", kind(other))).at("field \"doc_to_target\"")),
            };
            (self.text(text, &variables)?, answer)
        };
        let delimiter = |own: &Option<String>, task: &String| own.as_ref().unwrap_or(task).clone();
        let target_delimiter = delimiter(&own.target_delimiter, &self.config.target_delimiter);
        let has_answer = !answer.is_empty();
        let delimiter_before = if has_answer { target_delimiter } else { String::new() };
        turns.push(Turn { role: "user", content: question, delimiter: delimiter_before });
        if has_answer {
            let after = delimiter(&own.fewshot_delimiter, &self.config.fewshot_delimiter);
            turns.push(Turn { role: "assistant", content: answer, delimiter: after });
        }
        Ok(())
    }

    /// The turns before the question, and the question, as one text.
    fn joined(&self, before: &[Turn], question: &str) -> Result<String> {
        let text = |turns: &[Turn]| turns.iter().flat_map(|turn| [&*turn.content, &*turn.delimiter]).collect::<String>();
        let Some((template, mode)) = self.chat else {
            return Ok(text(before) + question);
        };
        let message = |role, content: &str| Message { role, content: content.to_owned() };
        let has_system = before.first().is_some_and(|turn| turn.role == "system");
        let (system, shots) = before.split_at(usize::from(has_system));
        let mut messages: Vec<Message> = system.iter().map(|turn| message("system", &turn.content)).collect();
        if mode == ChatMode::Turns {
            messages.extend(shots.iter().map(|turn| message(turn.role, &turn.content)));
            messages.push(message("user", question));
        } else {
            messages.push(message("user", &(text(shots) + question)));
        }
        template.render(&messages).or_else(|e| {
            // As lm-eval does: a template that refuses a system turn is asked again without it.
            if has_system {
                template.render(&messages[1..])
            } else {
                Err(e)
            }
        })
    }

    /// The requests of a row, with the rows shown before it.
    ///
    /// # Errors
    /// `ErrorKind::Template` or `TaskFormat` where this row is at fault.
    pub fn prompted(&self, row: &Value, examples: &[&Value]) -> Result<Prompted> {
        let variables = Variables::new(row);
        let config = self.config;
        let target = self.target(&config.doc_to_target, &variables)?;
        if config.output_type == OutputType::LoglikelihoodRolling {
            let Value::String(text) = &target else {
                return Err(row_error(format!("is {}, not a text", kind(&target))).at("field \"doc_to_target\""));
            };
            let counted = match &config.process_results {
                Some(function) if function.0 == builtin::ORIGINAL_PAGE => &variables.row["page"],
                _ => &target,
            };
            let choices = vec![python::str_of(counted)];
            let request = Request { context: Arc::from(""), continuation: text.clone() };
            return Ok(Prompted { requests: vec![request], choices, gold: Vec::new(), target });
        }
        let mut before: Vec<Turn> = self.system(&variables)?.into_iter().collect();
        for example in examples {
            self.example(example, &mut before).map_err(|e| {
                let place = e.place.clone().unwrap_or_default();
                e.at(format!("few-shot example, {place}"))
            })?;
        }
        let Some(choice_field) = &config.doc_to_choice else {
            let context = Arc::from(self.joined(&before, &self.text(&config.doc_to_text, &variables)?)?);
            let Value::String(continuation) = &target else {
                return Err(row_error(format!("is {}, not a text", kind(&target))).at("field \"doc_to_target\""));
            };
            let (request, choices) = (Request { context, continuation: continuation.clone() }, vec![continuation.clone()]);
            return Ok(Prompted { requests: vec![request], choices, gold: Vec::new(), target });
        };
        let choices = self.choices(choice_field, &variables)?;
        if choices.len() < 2 {
            return Err(row_error(format!("multiple choice needs two choices or more, found {}", choices.len())).at("field \"doc_to_choice\""));
        }
        let delimiter = if self.chat.is_some() { "" } else { config.target_delimiter.as_str() };
        let (requests, gold) = if self.multiple_input {
            let continuation = format!("{delimiter}{}", python::str_of(&target));
            let request = |choice: &String| -> Result<Request> {
                Ok(Request { context: Arc::from(self.joined(&before, choice)?), continuation: continuation.clone() })
            };
            let index = self.with_digits(self.value("doc_to_text", &config.doc_to_text, &variables)?);
            (choices.iter().map(request).collect::<Result<Vec<_>>>()?, gold(&index, &choices)?)
        } else {
            let context: Arc<str> = Arc::from(self.joined(&before, &self.text(&config.doc_to_text, &variables)?)?);
            let request = |choice| Request { context: context.clone(), continuation: format!("{delimiter}{choice}") };
            (choices.iter().map(request).collect(), self.gold(row, &target, &choices)?)
        };
        Ok(Prompted { requests, choices, gold, target })
    }

    /// The right choices; where the score is the probability of all of them, the labels say which they are.
    fn gold(&self, row: &Value, target: &Value, choices: &[String]) -> Result<Vec<usize>> {
        let is_probability = self.config.process_results.as_ref().is_some_and(|f| f.0 == builtin::GOLD_PROBABILITY);
        if !is_probability {
            return gold(target, choices);
        }
        let labels = row.get("mc2_targets").and_then(|targets| targets.get("labels")).and_then(Value::as_array);
        let labels = labels.filter(|labels| labels.len() == choices.len());
        let labels = labels.ok_or_else(|| row_error("there is not one label a choice").at("key \"mc2_targets\""))?;
        let right: Vec<usize> = (0..choices.len()).filter(|i| labels[*i] == 1).collect();
        if right.is_empty() {
            return Err(row_error("no choice is labelled as right").at("key \"mc2_targets\""));
        }
        Ok(right)
    }
}

fn json(value: minijinja::Value) -> Result<Value> {
    serde_json::to_value(value).map_err(|e| EvalError::new(ErrorKind::Template, e.to_string()))
}

/// The choice with this index.
fn nth<'c>(choices: &'c [String], index: &Value) -> Result<&'c String> {
    Ok(&choices[gold_index(index, choices)?])
}

fn gold(target: &Value, choices: &[String]) -> Result<Vec<usize>> {
    let mut indices = match target {
        Value::Array(targets) => targets.iter().map(|t| gold_index(t, choices)).collect::<Result<Vec<_>>>()?,
        target => vec![gold_index(target, choices)?],
    };
    if indices.is_empty() {
        return Err(row_error("the list of right choices is empty").at("field \"doc_to_target\""));
    }
    indices.sort_unstable();
    indices.dedup();
    Ok(indices)
}

/// An index, `true` and `false` as in Python, or a choice's text; the first of equal texts.
fn gold_index(target: &Value, choices: &[String]) -> Result<usize> {
    let index = match target {
        Value::Bool(flag) => Some(u64::from(*flag)),
        Value::Number(number) => number.as_u64(),
        Value::String(text) => choices.iter().position(|choice| choice == text).map(|i| i as u64),
        _ => None,
    };
    let index = index.and_then(|i| usize::try_from(i).ok()).filter(|i| *i < choices.len());
    index.ok_or_else(|| {
        let n = choices.len();
        let message = match target {
            Value::String(text) => format!("gold is \"{text}\", which is none of the {n} choices"),
            other if n == 0 => format!("gold is {} but there are no choices", python::repr(other)),
            other => format!("gold is {} but there are {n} choices (0 to {})", python::repr(other), n - 1),
        };
        row_error(message).at("field \"doc_to_target\"")
    })
}
