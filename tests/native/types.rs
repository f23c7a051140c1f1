//! The TypeScript twins of every Rust type that crosses to the page are in `web/src/types.ts`, and are those of today's structs.
//!
//! `EVALTAB_UPDATE_TYPES=1` writes the file anew; without it a difference is a failure that names the first line that differs.

use std::collections::BTreeSet;
use std::path::Path;
use ts_rs::TS;

/// Declarations in the order in which they are written, and every name they refer to.
#[derive(Default)]
struct Declarations {
    text: String,
    declared: BTreeSet<String>,
    referred: BTreeSet<String>,
}

impl Declarations {
    fn add<T: TS + 'static>(&mut self) {
        self.text += "\n";
        self.text += &T::docs().unwrap_or_default();
        self.text += "export ";
        self.text += &T::decl();
        self.text += "\n";
        self.declared.insert(T::ident());
        self.referred.extend(T::dependencies().into_iter().map(|dependency| dependency.ts_name));
    }
}

macro_rules! declarations {
    ($($module:path { $($name:ident),+ $(,)? })+) => {{
        let mut declarations = Declarations::default();
        $({
            use $module as module;
            $(declarations.add::<module::$name>();)+
        })+
        declarations
    }};
}

fn declarations() -> Declarations {
    declarations! {
        evaltab::error { ErrorKind, EvalError }
        evaltab::spec { Precision, EnginePath, ChatMode, Subset, AddBos, RunSpec }
        evaltab::task::doc { OutputType, Request, Doc, Unscored }
        evaltab::score { BoundaryFlag, ChoiceScore, Rule, Pick, ItemScore, FailedItem }
        evaltab::metrics::estimate { Interval, IntervalMethod, Proportion, Mean, DetectableDifference }
        evaltab::metrics::rules { RuleResult, EqualBecause, FoldedRule, RuleParting, RuleTable, ChoiceMetrics }
        evaltab::metrics::groups { Group, Aggregation, CategoryResult, MacroMean, GroupResult, Breakdown }
        evaltab::metrics::calibration { Binning, Bin, CalibrationValues, SelectivePoint, TemperatureFit, Calibration }
        evaltab::metrics::bootstrap { CalibrationBootstrap }
        evaltab::metrics::bias { PositionCount, LengthBias, Bias }
        evaltab::metrics::perplexity { Perplexity, LikelihoodResult, RollingResult }
        evaltab::metrics::compare { Flip, Comparison, RotatedRun, PositionShare, RotationReport }
        evaltab::metrics::synthetic { SyntheticProfile }
        evaltab::report {
            FileMeta, ModelMeta, TokenMeta, TokenizerMeta, MetricMeta, TaskMeta, RunMeta, ReportOptions, Counts, HeadlineMetric,
            Headline, FlagCount, Report,
        }
        evaltab::report::protocol { Fact, Protocol, PublishedNumber, ProtocolPart, ProtocolDifference, PublishedComparison }
        evaltab::task { PresetInfo, ExportFile }
        evaltab::model { ModelInfo, LoadStep }
        evaltab::prompt { TokenView, JoinView }
        evaltab::run { Phase, Step, DocView, FlaggedDocs, Prepared }
        evaltab::evaluation { TaskInfo }
        evaltab::report::items { ItemColumns, RuleScore, ChoiceDetail, ItemDetail }
    }
}

#[test]
fn typescript_types_match_the_rust_structs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/src/types.ts");
    let expected = format!(
        "// Generated from the Rust structs by the test `typescript_types_match_the_rust_structs`; not to be edited.\n{}",
        declarations().text
    );
    if std::env::var_os("EVALTAB_UPDATE_TYPES").is_some() {
        std::fs::write(&path, &expected).expect("web/src is writable");
    }
    let got = std::fs::read_to_string(&path).expect("web/src/types.ts is there; EVALTAB_UPDATE_TYPES=1 writes it");
    for (i, (got, expected)) in got.lines().zip(expected.lines()).enumerate() {
        assert_eq!(got, expected, "web/src/types.ts, line {}; EVALTAB_UPDATE_TYPES=1 writes it anew", i + 1);
    }
    assert_eq!(got, expected, "web/src/types.ts has another length; EVALTAB_UPDATE_TYPES=1 writes it anew");
}

#[test]
fn every_type_that_a_typescript_type_refers_to_is_declared() {
    let declarations = declarations();
    let missing: Vec<&String> = declarations.referred.difference(&declarations.declared).collect();
    assert!(missing.is_empty(), "no declaration of {missing:?}");
}
