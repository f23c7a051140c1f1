//! Files and settings → a task set: every doc as it will be scored.
//!
//! In: the rows, perhaps a second file of rows to take examples from, the run's settings, the model's chat template. Out:
//! `TaskSet`. A row that cannot become a doc is set aside with its reason; a config that cannot work ends everything.
//!
//! Source: lm-eval 0.4.13, `Task.build_all_requests`, `evaluator.evaluate` for the hashes.

use super::builtin;
use super::chat::ChatTemplate;
use super::config::{self, config_error, Sampler, TaskConfig};
use super::context::Prompter;
use super::doc::{Doc, OutputType, Unscored};
use super::fewshot::{OwnRow, Pool};
use super::group;
use super::presets::{self, Chosen};
use super::python;
use super::rows::{Row, Rows};
use super::subset;
use crate::error::{ErrorKind, EvalError, Result};
use crate::hash::sha256_hex;
use crate::metrics::groups::Group;
use crate::spec::{ChatMode, RunSpec};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// What a user gives.
#[derive(Debug, Clone)]
pub struct Files {
    /// The rows that are evaluated.
    pub data: Rows,
    /// Rows to take few-shot examples from; absent: from `data`, without the evaluated row.
    pub fewshot: Option<Rows>,
    /// YAML files that a config may include, by name.
    pub includes: BTreeMap<String, String>,
}

/// A task, ready to be encoded.
#[derive(Debug, Clone)]
pub struct TaskSet {
    /// The config as it was used, settings of the run put in; of a group, that of its first task.
    pub config: TaskConfig,
    /// Configs of a group's other tasks.
    pub more: Vec<TaskConfig>,
    /// The preset that it came from.
    pub preset: Option<String>,
    /// In file order.
    pub docs: Vec<Doc>,
    /// Lines that are no docs.
    pub unscored: Vec<Unscored>,
    /// What a user should know, one sentence each.
    pub warnings: Vec<String>,
    /// Groups of tasks, the outer one first.
    pub groups: Vec<Group>,
    /// Examples before each doc.
    pub num_fewshot: usize,
    /// Metrics of the config and whether higher is better.
    pub metrics: Vec<(String, bool)>,
    /// lm-eval's `metadata.version`.
    pub version: Option<String>,
    /// `acc` is the probability of the right choices together (TruthfulQA mc2).
    pub acc_is_gold_probability: bool,
}

/// Rows after `process_docs`.
struct Processed<'a> {
    rows: Vec<(&'a Row, Result<Cow<'a, Value>>)>,
}

impl<'a> Processed<'a> {
    fn new(rows: &'a Rows, config: &TaskConfig) -> Result<Self> {
        let process = |row: &'a Row| match &config.process_docs {
            Some(function) => builtin::process_row(function, &row.value).map(Cow::Owned),
            None => Ok(Cow::Borrowed(&row.value)),
        };
        let rows: Vec<_> = rows.rows.iter().map(|row| (row, process(row))).collect();
        match rows.iter().find_map(|(_, processed)| processed.as_ref().err()) {
            Some(e) if !is_rows_fault(e) => Err(e.clone()),
            _ => Ok(Self { rows }),
        }
    }

    fn good(&self) -> impl Iterator<Item = &Value> {
        self.rows.iter().filter_map(|(_, processed)| processed.as_deref().ok())
    }
}

/// A row can be at fault for these; everything else is wrong for all rows.
fn is_rows_fault(e: &EvalError) -> bool {
    matches!(e.kind, ErrorKind::TaskFormat | ErrorKind::Template)
}

/// Subject or category of a row.
pub(super) fn category(row: &Value) -> Option<String> {
    let value = row.get("subject").or_else(|| row.get("category"))?;
    (!value.is_null()).then(|| python::str_of(value))
}

/// What a table shows of a row.
fn question(row: &Value, context: &str) -> String {
    const FIELDS: [&str; 7] = ["question", "query", "goal", "sentence", "question_stem", "text", "page"];
    let field = FIELDS.iter().find_map(|field| row.get(field).and_then(Value::as_str));
    field.unwrap_or(context).to_owned()
}

impl TaskSet {
    /// The outermost group's name, else the task's.
    pub fn name(&self) -> &str {
        self.groups.first().map_or(&self.config.task, |group| &group.name)
    }
}

/// Which rows a task evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope<'a> {
    /// All.
    All,
    /// All, and every subject is a task of its own.
    BySubject,
    /// Those of one subject or category.
    Only(&'a str),
}

/// Builds the task set: from `spec.task_yaml`, else the preset of that name, else the preset that the rows fit.
///
/// # Errors
/// `TaskConfig` or `RunSpec` if config or settings cannot work; the first row's error if every row has one.
pub fn build(files: &Files, spec: &RunSpec, chat: Option<&ChatTemplate>) -> Result<TaskSet> {
    let (mut configs, groups, preset, by_subject) = match &spec.task_yaml {
        Some(yaml) => {
            let fields = config::mapping(yaml, &files.includes)?;
            let members = if group::is_group(&fields) {
                group::members(&fields, &files.includes)?
            } else {
                group::Members { tasks: vec![TaskConfig::from_mapping(fields)?], groups: Vec::new() }
            };
            (members.tasks, members.groups, None, false)
        }
        None => {
            let (name, style) = (spec.preset.as_deref(), spec.prompt_style.as_deref());
            let Chosen { preset, config, by_subject } = presets::choose(&files.data, name, style)?;
            let groups = if by_subject { presets::mmlu_groups(&config.task) } else { Vec::new() };
            (vec![config], groups, Some(preset), by_subject)
        }
    };
    let chat = match (spec.chat, chat) {
        (ChatMode::Off, _) => None,
        (mode, Some(template)) => Some((template, mode)),
        (_, None) => return Err(EvalError::new(ErrorKind::RunSpec, "the model has no chat template").at("setting \"chat\"")),
    };
    let categories: Vec<_> = files.data.rows.iter().map(|row| category(&row.value)).collect();
    let chosen = subset::positions(&spec.subset, &categories);
    let mut warnings = Vec::new();
    let (mut docs, mut unscored) = (Vec::new(), files.data.bad.clone());
    // Row positions and the task that has them.
    let mut owners: BTreeMap<usize, String> = BTreeMap::new();
    for config in &mut configs {
        builtin::check_results(config)?;
        resolve(config, files, spec, &mut warnings);
        let scope = match &config.dataset_name {
            _ if by_subject => Scope::BySubject,
            Some(name) if !groups.is_empty() && categories.iter().any(Option::is_some) => Scope::Only(name),
            _ => Scope::All,
        };
        let rows = Chooser { categories: &categories, chosen: &chosen, scope };
        let (task_docs, task_unscored) = self::docs(config, files, spec, chat, &rows)?;
        let indices = task_docs.iter().map(|doc| doc.index).chain(task_unscored.iter().filter_map(|row| row.index));
        for index in indices {
            if let Some(other) = owners.insert(index, config.task.clone()) {
                let line = files.data.rows[index].line;
                let message = format!("tasks \"{other}\" and \"{}\" both evaluate line {line}", config.task);
                return Err(config_error("task", message));
            }
        }
        docs.extend(task_docs);
        unscored.extend(task_unscored);
    }
    docs.sort_by_key(|doc| doc.index);
    unscored.sort_by_key(|unscored| unscored.line);
    warnings.dedup();
    if docs.is_empty() {
        let none = || EvalError::new(ErrorKind::RunSpec, "no row is left to evaluate").at("setting \"subset\"");
        return Err(unscored.into_iter().next().map_or_else(none, |unscored| unscored.error));
    }
    let config = configs.remove(0);
    Ok(TaskSet {
        preset,
        docs,
        unscored,
        warnings,
        groups,
        num_fewshot: config.num_fewshot.unwrap_or(0),
        metrics: config.metrics(),
        version: config.version(),
        acc_is_gold_probability: config.process_results.as_ref().is_some_and(|f| f.0 == builtin::GOLD_PROBABILITY),
        config,
        more: configs,
    })
}

/// The rows of one task, and which of them are run.
struct Chooser<'a> {
    categories: &'a [Option<String>],
    chosen: &'a [usize],
    scope: Scope<'a>,
}

impl Chooser<'_> {
    fn is_in_scope(&self, category: Option<&str>) -> bool {
        match self.scope {
            Scope::All | Scope::BySubject => true,
            Scope::Only(name) => category == Some(name),
        }
    }
}

/// Puts the run's settings into the config, and says which splits the files are.
fn resolve(config: &mut TaskConfig, files: &Files, spec: &RunSpec, warnings: &mut Vec<String>) {
    match spec.num_fewshot {
        // lm-eval's rule: a task that says zero (its prompt has examples of its own) stays there.
        Some(n) if n > 0 && config.num_fewshot == Some(0) => {
            warnings.push(format!("the task allows no few-shot examples, {n} were asked for"));
        }
        Some(n) => config.num_fewshot = Some(n),
        None => {}
    }
    if let Some(delimiter) = &spec.target_delimiter {
        config.target_delimiter.clone_from(delimiter);
    }
    if spec.chat != ChatMode::Off && !config.target_delimiter.is_empty() {
        warnings.push("with a chat template nothing stands between context and continuation".to_owned());
    }
    if config.test_split.is_none() && config.validation_split.is_none() {
        config.test_split = Some("test".to_owned());
    }
    if config.num_fewshot.unwrap_or(0) > 0 {
        name_fewshot_split(config, files);
    }
    warnings.extend(config.warnings());
}

/// lm-eval leaves the evaluated row out of the pool where the pool's split is the test split, or both are unnamed; so the names
/// have to say what the files are.
fn name_fewshot_split(config: &mut TaskConfig, files: &Files) {
    let evaluated = config.test_split.clone().or_else(|| config.validation_split.clone());
    let own = config.fewshot_config.as_mut();
    let split = own.and_then(|own| own.split.take()).or_else(|| config.fewshot_split.take());
    let has_samples = config.fewshot_config.as_ref().is_some_and(|own| own.samples.is_some());
    config.fewshot_split = if files.fewshot.is_some() {
        if config.training_split.is_none() && split.is_none() {
            config.training_split = Some("train".to_owned());
        }
        // A second file is not what is evaluated, whatever the config says.
        if split == evaluated {
            config.training_split.clone().or_else(|| Some("train".to_owned()))
        } else {
            split
        }
    } else if has_samples {
        None
    } else {
        config.test_split.clone_from(&evaluated);
        evaluated
    };
}

/// Rows that are evaluated together: a task of lm-eval's.
struct Part<'a> {
    task: String,
    /// Rows by now: lm-eval's `doc_id` of the next.
    n_rows: usize,
    pool: Pool<'a>,
}

type Docs = (Vec<Doc>, Vec<Unscored>);

/// The rows that can be shown as examples: a damaged one must not spoil the docs that it is drawn for. All of them where none can,
/// so that its error is seen.
///
/// DIFFERS from lm-eval, which stops.
fn presentable<'r>(rows: Vec<&'r Value>, prompter: &Prompter) -> Vec<&'r Value> {
    let good: Vec<_> = rows.iter().copied().filter(|row| !prompter.example_error(row).is_some_and(|e| is_rows_fault(&e))).collect();
    if good.is_empty() {
        rows
    } else {
        good
    }
}

fn docs(config: &TaskConfig, files: &Files, spec: &RunSpec, chat: Option<(&ChatTemplate, ChatMode)>, rows: &Chooser) -> Result<Docs> {
    let data = Processed::new(&files.data, config)?;
    let shots = files.fewshot.as_ref().map(|rows| Processed::new(rows, config)).transpose()?;
    let own = config.fewshot_config.as_ref();
    let samples = own.and_then(|own| own.samples.as_ref()).filter(|_| shots.is_none());
    let pool_rows: Vec<&Value> = match (&shots, samples) {
        (Some(shots), _) => shots.good().collect(),
        (None, Some(samples)) => samples.iter().collect(),
        (None, None) => data.good().collect(),
    };
    // DIFFERS from lm-eval, which reads `fewshot_indices` and never uses them.
    let pool_rows = match own.and_then(|own| own.fewshot_indices.as_ref()) {
        Some(indices) => indices.iter().filter_map(|i| pool_rows.get(*i).copied()).collect(),
        None => pool_rows,
    };
    let is_same_file = shots.is_none() && samples.is_none();
    let own_row = if is_same_file || config.fewshot_split == config.test_split { OwnRow::LeaveOut } else { OwnRow::Keep };

    let columns: BTreeSet<&str> = data.good().filter_map(Value::as_object).flatten().map(|(name, _)| &**name).collect();
    let mut prompter = Prompter::new(config, columns, data.good().next().unwrap_or(&Value::Null));
    prompter.system_instruction = spec.system_instruction.as_deref();
    prompter.chat = chat;
    let pool_rows = if config.num_fewshot.unwrap_or(0) > 0 { presentable(pool_rows, &prompter) } else { pool_rows };
    let sampler = own.and_then(|own| own.sampler).unwrap_or(Sampler::Default);
    let of = |category: &str| {
        let same = |row: &&Value| self::category(row).as_deref() == Some(category);
        pool_rows.iter().copied().filter(same).collect::<Vec<_>>()
    };
    let new_part = |category: Option<&str>| {
        let (task, pool) = match (rows.scope, category) {
            (Scope::BySubject, Some(subject)) => (presets::subject_task(&config.task, subject), of(subject)),
            // Examples of a file without categories are everyone's, and so are inline ones.
            (Scope::Only(name), _) if pool_rows.iter().any(|row| self::category(row).is_some()) => (config.task.clone(), of(name)),
            _ => (config.task.clone(), pool_rows.clone()),
        };
        Part { task, n_rows: 0, pool: Pool::new(pool, sampler, own_row, spec.fewshot_seed) }
    };
    let mut parts: BTreeMap<Option<String>, Part> = BTreeMap::new();

    let mut chosen = rows.chosen.iter().copied().peekable();
    let (mut docs, mut unscored) = (Vec::new(), Vec::new());
    for (index, ((row, processed), category)) in data.rows.iter().zip(rows.categories).enumerate() {
        let is_chosen = chosen.next_if_eq(&index).is_some();
        if !rows.is_in_scope(category.as_deref()) {
            continue;
        }
        let key = category.clone().filter(|_| rows.scope == Scope::BySubject);
        let part = parts.entry(key).or_insert_with(|| new_part(category.as_deref()));
        let doc_id = part.n_rows;
        part.n_rows += 1;
        if !is_chosen {
            continue;
        }
        let doc = processed.as_deref().map_err(Clone::clone).and_then(|value| {
            let examples = part.pool.draw(value, config.num_fewshot.unwrap_or(0))?;
            let prompted = prompter.prompted(value, &examples)?;
            let context = prompted.requests.first().map_or("", |request| &*request.context);
            let hashed = match (config.output_type, prompted.requests.first()) {
                (OutputType::LoglikelihoodRolling, Some(request)) => request.continuation.as_str(),
                _ => context,
            };
            Ok(Doc {
                doc_id,
                index,
                line: row.line,
                task: part.task.clone(),
                category: category.clone(),
                question: question(value, context),
                output_type: config.output_type,
                doc_hash: sha256_hex(python::json_dumps(value).as_bytes()),
                prompt_hash: sha256_hex(hashed.as_bytes()),
                target_hash: sha256_hex(python::str_of(&prompted.target).as_bytes()),
                row: value.clone(),
                requests: prompted.requests,
                choices: prompted.choices,
                gold: prompted.gold,
                target: prompted.target,
            })
        });
        match doc {
            Ok(doc) => docs.push(doc),
            Err(e) if is_rows_fault(&e) => {
                let place = [Some(format!("line {}", row.line)), e.place.clone()].into_iter().flatten();
                let place = place.collect::<Vec<_>>().join(", ");
                unscored.push(Unscored { index: Some(index), line: row.line, error: e.at(place) });
            }
            Err(e) => return Err(e),
        }
    }
    Ok((docs, unscored))
}

#[cfg(test)]
mod tests {
    use super::super::rows::read_rows;
    use super::*;

    fn files(text: &str) -> Files {
        let data = read_rows("rows.jsonl", text.as_bytes()).expect("rows");
        Files { data, fewshot: None, includes: BTreeMap::new() }
    }

    fn row(question: &str, choices: &str, answer: &str) -> String {
        format!("{{\"question\": \"{question}\", \"choices\": {choices}, \"answer\": {answer}}}\n")
    }

    fn plain() -> RunSpec {
        RunSpec { prompt_style: Some("continuation".to_owned()), ..RunSpec::default() }
    }

    fn errors(set: &TaskSet) -> Vec<String> {
        set.unscored.iter().map(|unscored| unscored.error.to_string()).collect()
    }

    #[test]
    fn rows_that_are_no_docs_are_set_aside_with_line_and_reason() {
        let text = row("q", r#"["a", "b"]"#, "0")
            + "{not json\n"
            + "{\"question\": \"q\", \"answer\": 0}\n"
            + &row("q", r#"["a", "b"]"#, "2")
            + &row("q", r#"["only"]"#, "0")
            + &row("q", r#"["a", "b"]"#, "null")
            + &row("q", r#"["a", "b"]"#, "-1");
        let set = build(&files(&text), &plain(), None).expect("a set");
        assert_eq!(set.docs.len(), 1);
        let expected = [
            "task_format: line 2: not JSON at column 2: key must be a string",
            "template: line 3, field \"doc_to_choice\": the row has no field \"choices\"",
            "task_format: line 4, field \"doc_to_target\": gold is 2 but there are 2 choices (0 to 1)",
            "task_format: line 5, field \"doc_to_choice\": multiple choice needs two choices or more, found 1",
            "task_format: line 6, field \"doc_to_target\": gold is \"None\", which is none of the 2 choices",
            "task_format: line 7, field \"doc_to_target\": gold is \"-1\", which is none of the 2 choices",
        ];
        assert_eq!(errors(&set), expected);
        let indices: Vec<_> = set.unscored.iter().map(|unscored| unscored.index).collect();
        assert_eq!(indices, [None, Some(1), Some(2), Some(3), Some(4), Some(5)]);
    }

    #[test]
    fn awkward_rows_become_docs() {
        let text = row("a\\nb", r#"["1", "2", "3", "4", "5"]"#, "4")
            + &row("42", r#"["x ", "x ", "\u00a0y"]"#, "[0, 2, 2]")
            + &row("", r#"["", "日本"]"#, "1")
            + &row("numbers", "[1, 2.5]", "0");
        let set = build(&files(&text), &plain(), None).expect("a set");
        assert_eq!(errors(&set), [""; 0]);
        let continuations = |i: usize| set.docs[i].requests.iter().map(|r| r.continuation.as_str()).collect::<Vec<_>>();
        assert_eq!(&*set.docs[0].requests[0].context, "Question: a\nb\nAnswer:");
        assert_eq!((continuations(1), &set.docs[1].gold[..]), (vec![" x ", " x ", " \u{a0}y"], &[0, 2][..]));
        assert_eq!(continuations(2), [" ", " 日本"]);
        assert_eq!(continuations(3), [" 1", " 2.5"]);
    }

    #[test]
    fn a_file_of_wrong_rows_is_the_first_ones_error() {
        let error = build(&files(&row("q", r#"["a", "b"]"#, "9")), &plain(), None).map(|set| set.docs.len());
        assert_eq!(error.map_err(|e| e.place), Err(Some("line 1, field \"doc_to_target\"".to_owned())));
        let gsm8k = files("{\"question\": \"q\", \"answer\": \"a #### 1\"}\n");
        assert!(build(&gsm8k, &RunSpec::default(), None).is_err_and(|e| e.message.contains("generated answers")));
        let spec = RunSpec { chat: ChatMode::Turns, ..plain() };
        let error = build(&files(&row("q", r#"["a", "b"]"#, "0")), &spec, None).map(|set| set.docs.len());
        assert_eq!(error.map_err(|e| e.message), Err("the model has no chat template".to_owned()));
    }

    #[test]
    fn neither_a_damaged_row_nor_the_evaluated_one_becomes_an_example() {
        let text = row("one", r#"["a", "b"]"#, "0") + &row("damaged", r#"["a", "b"]"#, "7") + &row("two", r#"["c", "d"]"#, "1");
        let yaml = "task: t\noutput_type: multiple_choice\ndoc_to_text: '{{question}}'\ndoc_to_choice: choices\ndoc_to_target: answer\n";
        // The second one's examples are of another split, but there is only one file here.
        for yaml in [yaml.to_owned(), format!("{yaml}test_split: test\nfewshot_split: dev\n")] {
            let spec = RunSpec { num_fewshot: Some(1), task_yaml: Some(yaml), ..RunSpec::default() };
            let set = build(&files(&text), &spec, None).expect("a set");
            let contexts: Vec<&str> = set.docs.iter().map(|doc| &*doc.requests[0].context).collect();
            assert_eq!((contexts, set.unscored.len()), (vec!["two d\n\none", "one a\n\ntwo"], 1));
        }
    }

    #[test]
    fn contexts_are_shared_by_the_requests_of_a_doc() {
        let set = build(&files(&row("q", r#"["a", "b"]"#, "0")), &plain(), None).expect("a set");
        let [a, b] = &set.docs[0].requests[..] else { panic!("two requests") };
        assert!(std::sync::Arc::ptr_eq(&a.context, &b.context));
    }

    #[test]
    fn a_subset_keeps_ids_and_order() {
        let text: String = (0..30).map(|i| row(&format!("q{i}"), r#"["a", "b"]"#, "1")).collect();
        let spec = RunSpec { subset: crate::spec::Subset::Random { n: 5, seed: 11 }, ..plain() };
        let set = build(&files(&text), &spec, None).expect("a set");
        let ids: Vec<usize> = set.docs.iter().map(|doc| doc.doc_id).collect();
        assert!(ids.len() == 5 && ids.is_sorted());
        assert!(set.docs.iter().all(|doc| doc.index == doc.doc_id && doc.question == format!("q{}", doc.doc_id)));
    }

    #[test]
    fn tasks_of_a_group_evaluate_the_rows_of_their_category() {
        let rows = ["x", "y", "x"].map(|c| format!("{{\"q\": \"q {c}\", \"category\": \"{c}\"}}\n")).concat();
        let base = "output_type: multiple_choice\ndoc_to_text: q\ndoc_to_choice: [a, b]\ndoc_to_target: 1\n";
        let group = "group: g\ntask:\n  - {include: base.yaml, task: t_x, dataset_name: x}\n  - t_y\naggregate_metric_list:\n  - {metric: acc, weight_by_size: false}\n";
        let mut files = files(&rows);
        files.includes.insert("base.yaml".to_owned(), base.to_owned());
        files.includes.insert("y.yaml".to_owned(), "include: base.yaml\ntask: t_y\ndataset_name: y\n".to_owned());
        let spec = |yaml: &str| RunSpec { task_yaml: Some(yaml.to_owned()), ..RunSpec::default() };
        let set = build(&files, &spec(group), None).expect("a set");
        let docs: Vec<_> = set.docs.iter().map(|doc| (doc.task.as_str(), doc.doc_id, doc.index)).collect();
        assert_eq!(docs, [("t_x", 0, 0), ("t_y", 0, 1), ("t_x", 1, 2)]);
        assert_eq!((set.name(), set.groups[0].weight_by_size, set.more.len()), ("g", false, 1));
        let both = group.replace("dataset_name: x", "dataset_name: y");
        let error = build(&files, &spec(&both), None).map(|set| set.docs.len()).expect_err("one row, two tasks");
        assert_eq!(error.message, "tasks \"t_x\" and \"t_y\" both evaluate line 2");
    }

    #[test]
    fn mmlus_own_csv_gives_mmlus_prompt() {
        let rows = |name: &str, text: &str| read_rows(name, text.as_bytes()).expect("rows");
        let data = rows("virology_test.csv", " Why? ,a,b,c,d,C\n");
        let fewshot = Some(rows("virology_dev.csv", "One,1,2,3,4,A\nTwo,1,2,3,4,B\n"));
        let spec = RunSpec { num_fewshot: Some(1), ..RunSpec::default() };
        let set = build(&Files { data, fewshot, includes: BTreeMap::new() }, &spec, None).expect("a set");
        let doc = &set.docs[0];
        assert_eq!((doc.task.as_str(), doc.gold[0], set.groups.len()), ("mmlu_virology", 2, 5));
        assert_eq!(
            &*doc.requests[0].context,
            "The following are multiple choice questions (with answers) about virology.\n\nOne\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer: A\n\nWhy?\nA. a\nB. b\nC. c\nD. d\nAnswer:"
        );
    }
}
