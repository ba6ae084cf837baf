//! `onefold methods`: what can be asked for by `--method`, and what it promises.

use std::fmt::Write;

use anyhow::Result;
use onefold::{Guarantee, Method, PRESETS, Plan, Preset};
use serde_json::json;

use crate::args::MethodsArgs;
use crate::exit::Done;
use crate::output;

/// Similarities at which the chance of being proposed is shown.
const SHOWN: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
/// Shingles that both documents of such a pair have together.
const UNION: u32 = 500;

/// Prints them.
pub fn run(args: &MethodsArgs) -> Result<Done> {
    let wanted = |preset: &&Preset| args.name.as_deref().is_none_or(|name| name == preset.name);
    let methods = PRESETS.iter().filter(wanted).map(|preset| About::new(preset, args)).collect::<Result<Vec<About>>>()?;
    output::print(&match (args.json, args.name.is_some()) {
        (true, _) => serde_json::to_string_pretty(&methods.iter().map(About::json).collect::<Vec<_>>())? + "\n",
        (false, true) => methods.iter().map(About::detail).collect::<Result<String>>()?,
        (false, false) => list(&methods),
    })?;
    Ok(Done::Complete)
}

/// A preset, and what follows from it.
struct About<'a> {
    preset: &'a Preset,
    plan: Plan,
    guarantee: Guarantee,
    /// The chances at [`SHOWN`].
    recall: Vec<Option<f64>>,
}

impl<'a> About<'a> {
    fn new(preset: &'a Preset, args: &MethodsArgs) -> Result<About<'a>> {
        let mut plan = Plan::default();
        preset.apply(&mut plan);
        if let Some(threshold) = &args.threshold {
            plan.threshold = threshold.parse()?;
        }
        plan.validate()?;
        let recall = SHOWN.iter().map(|&similarity| plan.recall(similarity, UNION)).collect::<onefold::Result<_>>()?;
        Ok(About { preset, guarantee: plan.guarantee(UNION)?, recall, plan })
    }

    /// What the chances are chances of.
    fn scale(&self) -> &'static str {
        if matches!(self.plan.method, Method::SimHash(_)) { "cosine" } else { "resemblance" }
    }

    fn promise(&self) -> String {
        match &self.guarantee {
            Guarantee::Exact => "finds every pair".into(),
            Guarantee::Probabilistic { miss_rate } => format!("misses {} at {}", share(*miss_rate), self.plan.threshold),
            Guarantee::Other(promise) => promise.clone(),
        }
    }

    fn json(&self) -> serde_json::Value {
        let curve: Vec<_> = SHOWN.iter().zip(&self.recall).map(|(at, chance)| json!([at, chance])).collect();
        let miss_rate = match self.guarantee {
            Guarantee::Exact => Some(0.0),
            Guarantee::Probabilistic { miss_rate } => Some(miss_rate),
            Guarantee::Other(_) => None,
        };
        json!({
            "name": self.preset.name,
            "about": self.preset.about,
            "source": self.preset.source,
            "miss_rate_at_threshold": miss_rate,
            "recall_over": self.scale(),
            "recall": curve,
            "union": UNION,
            "plan": self.plan,
        })
    }

    fn detail(&self) -> Result<String> {
        let mut text = format!("{}: {}\n\n", self.preset.name, self.preset.about);
        let _ = writeln!(text, "  source   {}", self.preset.source);
        let _ = writeln!(text, "  promise  {}", self.promise());
        let _ = writeln!(text, "\n  {:<12}chance that such a pair is proposed ({UNION} shingles in either)", self.scale());
        for (at, chance) in SHOWN.iter().zip(&self.recall) {
            let bar = "█".repeat((chance.unwrap_or(0.0) * 40.0).round() as usize);
            let _ = writeln!(text, "  {at:<12}{:>8}  {bar}", chance.map_or("?".into(), share));
        }
        let changed = changed_settings(&self.plan)?;
        let _ = write!(text, "\n  settings, which --set KEY=VALUE changes:\n{changed}");
        Ok(text)
    }
}

/// The settings of the method, and those of the plan that the preset fixes.
fn changed_settings(plan: &Plan) -> Result<String> {
    let (all, default) = (toml::Table::try_from(plan)?, toml::Table::try_from(Plan::default())?);
    let mut text = String::new();
    for (key, value) in all.iter().filter(|(key, value)| default.get(*key) != Some(value) && *key != "preset") {
        match value {
            toml::Value::Table(table) => {
                let settings = table.iter().filter(|(key, _)| *key != "name");
                settings.for_each(|(key, value)| _ = writeln!(text, "    {key} = {value}"));
            }
            value => _ = writeln!(text, "    {key} = {value}"),
        }
    }
    Ok(if text.is_empty() { "    none\n".into() } else { text })
}

fn list(methods: &[About<'_>]) -> String {
    let mut text = String::new();
    for about in methods {
        let _ = writeln!(text, "{:<14}{}", about.preset.name, about.preset.about);
        let _ = writeln!(text, "{:<14}{}; {}", "", about.promise(), about.preset.source);
    }
    text.push_str("\nChances are those of documents with 500 shingles between them. 'onefold methods NAME' says more.\n");
    text.push_str("Proposals are verified unless --verify none is given.\n");
    text
}

/// A share in percent, never rounded to none or all.
fn share(value: f64) -> String {
    let percent = 100.0 * value;
    match percent {
        _ if value <= 0.0 => "0 %".into(),
        _ if value >= 1.0 => "100 %".into(),
        _ if percent < 0.1 => "< 0.1 %".into(),
        _ if percent > 99.9 => "> 99.9 %".into(),
        _ => format!("{percent:.1} %"),
    }
}
