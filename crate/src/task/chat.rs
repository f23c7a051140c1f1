//! A model's chat template.
//!
//! In: messages. Out: the text that the model was trained to see, up to where its answer begins.
//!
//! The function `strftime_now`, which some templates ask for, is not defined: they then take a fixed date, and a run is the same
//! tomorrow.
//!
//! Source: transformers' `utils/chat_template_utils.py`; lm-eval 0.4.13, `HFLM.apply_chat_template`.

use super::template::{error, python_environment};
use crate::error::Result;
use crate::hash::sha256_hex;
use minijinja::{context, Error, ErrorKind as JinjaError};
use regex::{Captures, Regex};
use serde::Serialize;
use std::borrow::Cow;
use std::sync::LazyLock;

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: &'static str,
    /// Its text.
    pub content: String,
}

/// The template of a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatTemplate {
    /// Jinja source.
    pub source: String,
    /// Text of the BOS token, empty where there is none.
    pub bos_token: String,
    /// Text of the EOS token, empty where there is none.
    pub eos_token: String,
}

impl ChatTemplate {
    /// SHA-256 of the source.
    pub fn sha256(&self) -> String {
        sha256_hex(self.source.as_bytes())
    }

    /// The messages as one text, the answer's opening at the end.
    ///
    /// # Errors
    /// `ErrorKind::Template` if the template fails, for instance because it has no system turn.
    pub fn render(&self, messages: &[Message]) -> Result<String> {
        let mut env = python_environment();
        env.set_trim_blocks(true);
        env.set_lstrip_blocks(true);
        env.add_function("raise_exception", |message: String| -> Result<String, Error> { Err(Error::new(JinjaError::InvalidOperation, message)) });
        let (bos_token, eos_token) = (&self.bos_token, &self.eos_token);
        let nothing = || minijinja::Value::from(());
        let variables = context! {
            messages, bos_token, eos_token, add_generation_prompt => true, tools => nothing(), documents => nothing(),
        };
        env.render_str(&without_generation(&self.source), variables).map_err(|e| error(&e).at("chat template"))
    }
}

/// The source with transformers' `{% generation %}`, which marks the assistant's text and writes nothing, as an `if` that holds.
fn without_generation(source: &str) -> Cow<'_, str> {
    static BLOCK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{%(-?)\s*(end)?generation\s*(-?)%\}").expect("a constant pattern"));
    BLOCK.replace_all(source, |found: &Captures| {
        let statement = if found.get(2).is_some() { "endif" } else { "if true" };
        format!("{{%{} {statement} {}%}}", &found[1], &found[3])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(source: &str) -> ChatTemplate {
        ChatTemplate { source: source.to_owned(), bos_token: "<s>".to_owned(), eos_token: "</s>".to_owned() }
    }

    fn message(role: &'static str, content: &str) -> Message {
        Message { role, content: content.to_owned() }
    }

    #[test]
    fn blocks_leave_no_line_and_undefined_names_are_empty() {
        let source = "{{ bos_token }}{% for m in messages %}\n    {% if loop.first and m['role'] != 'system' %}\nS\n    {% endif %}\n[{{ m['role'] }}]{{ m.content.strip() }}{{ eos_token }}{{ nothing }}\n{% endfor %}\n{% if add_generation_prompt %}[assistant]{% endif %}";
        // jinja2 3.1 with trim_blocks and lstrip_blocks.
        let got = template(source).render(&[message("user", " hi "), message("assistant", "x")]);
        assert_eq!(got.as_deref(), Ok("<s>S\n[user]hi</s>\n[assistant]x</s>\n[assistant]"));
    }

    #[test]
    fn marks_of_generated_text_write_nothing() {
        let source = "{% for m in messages %}[{%- generation -%} {{ m.content }} {% endgeneration -%}\n]{% endfor %}";
        assert_eq!(template(source).render(&[message("assistant", "x")]).as_deref(), Ok("[x ]"));
    }

    #[test]
    fn a_template_may_refuse() {
        let source = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}ok";
        let refused = template(source).render(&[message("system", "s")]).expect_err("refused");
        assert!(refused.message.contains("System role not supported"), "{refused}");
        assert_eq!(template(source).render(&[message("user", "u")]).as_deref(), Ok("ok"));
    }
}
