//! A group of tasks, lm-eval's `group:` YAML.
//!
//! In: the group's fields, and the YAML files that were given with it. Out: the configs of all tasks under it, and which task
//! belongs to which group. A task is named by its `task` or one of its `tag`s, or stands inline; an inline entry that names another
//! file's task changes fields of it.
//!
//! Source: lm-eval 0.4.13, `config/group.py` and its task manager.

use super::config::{config_error, mapping, with_includes, TaskConfig};
use crate::error::Result;
use crate::metrics::groups::Group;
use serde_yaml_ng::{Mapping, Value};
use std::collections::BTreeMap;

/// Fields of a group.
const FIELDS: [&str; 5] = ["group", "group_alias", "task", "aggregate_metric_list", "metadata"];

/// Tasks and groups, the outermost group first.
#[derive(Debug, Clone, Default)]
pub struct Members {
    /// Each once, in the order in which they are named.
    pub tasks: Vec<TaskConfig>,
    /// Each once, a group before those inside it.
    pub groups: Vec<Group>,
}

/// The fields are a group's.
pub fn is_group(fields: &Mapping) -> bool {
    fields.contains_key("group")
}

/// Everything under a group.
///
/// # Errors
/// `ErrorKind::TaskConfig` if a field is wrong, a named task is in no file, or a config is wrong.
pub fn members(fields: &Mapping, includes: &BTreeMap<String, String>) -> Result<Members> {
    // A file that is no YAML matters only where something includes it.
    let files = includes.values().filter_map(|text| mapping(text, includes).ok()).collect();
    let mut members = Members::default();
    members.add_group(fields, &Given { files, includes })?;
    if members.tasks.is_empty() {
        return Err(config_error("task", "the group has no task"));
    }
    Ok(members)
}

/// The files that were given, and their fields.
struct Given<'a> {
    files: Vec<Mapping>,
    includes: &'a BTreeMap<String, String>,
}

fn text(fields: &Mapping, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// A file's `tag` is or has this name.
fn has_tag(fields: &Mapping, name: &str) -> bool {
    match fields.get("tag") {
        Some(Value::String(tag)) => tag == name,
        Some(Value::Sequence(tags)) => tags.iter().any(|tag| tag.as_str() == Some(name)),
        _ => false,
    }
}

/// Weighted by docs unless it says otherwise, and the mean as the only way to aggregate.
fn weight_by_size(fields: &Mapping) -> Result<bool> {
    let field = "aggregate_metric_list";
    let entries = match fields.get(field) {
        None | Some(Value::Null) => return Ok(true),
        Some(Value::Sequence(entries)) => entries.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    for entry in entries {
        let aggregation = entry.get("aggregation").and_then(Value::as_str).unwrap_or("mean");
        if aggregation != "mean" {
            return Err(config_error(field, format!("aggregation \"{aggregation}\" is not supported")));
        }
    }
    // DIFFERS: lm-eval weighs each metric by its own entry; here the first one's holds for all.
    let weight = entries.first().and_then(|entry| entry.get("weight_by_size")).and_then(Value::as_bool);
    Ok(weight.unwrap_or(true))
}

impl Members {
    /// Returns the group's name.
    fn add_group(&mut self, fields: &Mapping, given: &Given) -> Result<String> {
        if let Some(name) = fields.keys().filter_map(Value::as_str).find(|name| !FIELDS.contains(name)) {
            return Err(config_error(name, "unknown field of a group"));
        }
        let name = text(fields, "group").ok_or_else(|| config_error("group", "expected a name"))?;
        if self.groups.iter().any(|group| group.name == name) {
            return Ok(name);
        }
        let version = fields.get("metadata").and_then(|metadata| metadata.get("version"));
        let version = version.and_then(|version| match version {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let at = self.groups.len();
        self.groups.push(Group {
            alias: text(fields, "group_alias").unwrap_or_else(|| name.clone()),
            name: name.clone(),
            members: Vec::new(),
            weight_by_size: weight_by_size(fields)?,
            version,
        });
        let entries = match fields.get("task") {
            Some(Value::Sequence(entries)) => entries.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        for entry in entries {
            let names = self.add(&entry, given)?;
            self.groups[at].members.extend(names);
        }
        Ok(name)
    }

    /// Adds what an entry of `task` stands for; returns the names of tasks and groups.
    fn add(&mut self, entry: &Value, given: &Given) -> Result<Vec<String>> {
        match entry {
            Value::String(name) => {
                let is = |file: &&Mapping, field: &str| file.get(field).and_then(Value::as_str) == Some(name);
                if let Some(group) = given.files.iter().find(|file| is(file, "group")) {
                    return Ok(vec![self.add_group(group, given)?]);
                }
                let named: Vec<_> = match given.files.iter().find(|file| is(file, "task")) {
                    Some(task) => vec![task],
                    None => given.files.iter().filter(|file| has_tag(file, name)).collect(),
                };
                if named.is_empty() {
                    return Err(config_error("task", format!("task \"{name}\" is in no file that was given")));
                }
                named.into_iter().map(|task| self.add_task(task.clone())).collect()
            }
            Value::Mapping(fields) if is_group(fields) => Ok(vec![self.add_group(fields, given)?]),
            Value::Mapping(fields) => {
                let named = |file: &&Mapping| file.get("task").is_some() && file.get("task") == fields.get("task");
                let mut all = given.files.iter().find(named).cloned().unwrap_or_default();
                all.extend(with_includes(fields.clone(), given.includes, 0)?);
                Ok(vec![self.add_task(all)?])
            }
            _ => Err(config_error("task", "expected a task's name or its fields")),
        }
    }

    fn add_task(&mut self, fields: Mapping) -> Result<String> {
        let config = TaskConfig::from_mapping(fields)?;
        let name = config.task.clone();
        if !self.tasks.iter().any(|task| task.task == name) {
            self.tasks.push(config);
        }
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "output_type: multiple_choice\ndoc_to_text: question\ndoc_to_choice: choices\ndoc_to_target: answer\n";

    fn of(yaml: &str, files: &[(&str, String)]) -> Result<Members> {
        let includes = files.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
        members(&mapping(yaml, &includes)?, &includes)
    }

    #[test]
    fn tasks_are_found_by_name_tag_and_group_and_may_stand_inline() {
        let files = [
            ("base", BASE.to_owned()),
            ("a.yaml", "include: base\ntask: a\ntag: letters\n".to_owned()),
            ("b.yaml", "include: base\ntask: b\ntag: [x, letters]\n".to_owned()),
            (
                "in.yaml",
                "group: inner\ngroup_alias: Inner\ntask: [letters]\naggregate_metric_list:\n  - metric: acc\n    weight_by_size: false\n".to_owned(),
            ),
        ];
        let yaml = "group: outer\ntask:\n  - inner\n  - task: c\n    output_type: multiple_choice\n    doc_to_text: q\n    doc_to_choice: [x, y]\n    doc_to_target: 0\n  - task: a\n    num_fewshot: 3\nmetadata:\n  version: 2\n";
        let members = of(yaml, &files).expect("a group");
        let names: Vec<_> = members.tasks.iter().map(|task| task.task.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let groups: Vec<_> = members.groups.iter().map(|g| (g.name.as_str(), g.alias.as_str(), g.weight_by_size)).collect();
        assert_eq!(groups, [("outer", "outer", true), ("inner", "Inner", false)]);
        assert_eq!(members.groups[0].members, ["inner", "c", "a"]);
        assert_eq!(members.groups[0].version.as_deref(), Some("2"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |yaml: &str| of(yaml, &[]).expect_err("wrong").to_string();
        assert!(message("group: g\ntask: [nowhere]\n").contains("task \"nowhere\" is in no file that was given"));
        assert!(message("group: g\ntask: []\n").contains("has no task"));
        assert!(message("group: g\nfoo: 1\n").contains("field \"foo\": unknown field of a group"));
        assert!(message("group: g\ntask: []\naggregate_metric_list:\n  metric: acc\n  aggregation: median\n").contains("median"));
    }
}
