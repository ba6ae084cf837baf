//! From flags to a plan: defaults, then the configuration file, then flags.

use std::fs;
use std::path::Path;

use anyhow::Result;
use onefold::{ClusterMode, Columns, Method, MinHashSettings, PairsMode, Plan, Relate, Remove, Threshold};

use crate::args::{ClusterName, MethodName, MinHashArgs, PairsName, PlanArgs, ReadingArgs, RelationName, RemoveName};
use crate::exit::Usage;

/// The plan that the flags ask for, checked.
pub fn resolve(args: &PlanArgs) -> Result<Plan> {
    let mut plan = args.config.as_deref().map_or_else(|| Ok(Plan::default()), read_config)?;
    if let Some(threshold) = &args.threshold {
        plan.threshold = threshold.parse()?;
    }
    if let Some(floor) = &args.floor {
        plan.floor = Some(Threshold::parse("floor", floor)?);
    }
    if let Some(keep) = &args.keep {
        plan.keep = keep.parse()?;
    }
    set(&mut plan.ngram_size, args.ngram_size);
    plan.protect.extend(args.protect.iter().cloned());
    if let Some(containment) = &args.containment {
        plan.containment = Threshold::parse("containment", containment)?;
    }
    set(&mut plan.min_contained, args.min_contained);
    set(&mut plan.remove, args.remove.map(remove));
    // Nothing can lie inside another where nobody looks for it.
    let implied = matches!(args.remove, Some(RemoveName::Contained)).then_some(Relate::Containment);
    set(&mut plan.relation, args.relation.map(relation).or(implied));
    if plan.relation == Relate::Resemblance && (args.containment.is_some() || args.min_contained.is_some()) {
        return Err(Usage("--containment and --min-contained belong to --relation containment".into()).into());
    }
    set(&mut plan.cluster, args.cluster.map(cluster));
    set(&mut plan.pairs, args.pairs.map(pairs));
    plan.max_pairs = args.max_pairs.or(plan.max_pairs);
    plan.method = method(plan.method, args)?;
    reading(&mut plan, &args.reading);
    plan.validate()?;
    Ok(plan)
}

fn read_config(path: &Path) -> Result<Plan> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|e| Usage(format!("cannot read configuration '{shown}': {e}")))?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..start].matches('\n').count();
        let words = text.lines().nth(line).unwrap_or_default().trim();
        let problem = error.message().replace('\n', ", ");
        Usage(format!("configuration '{shown}', line {}: {problem} (in '{words}')", line + 1)).into()
    })
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

fn relation(name: RelationName) -> Relate {
    match name {
        RelationName::Resemblance => Relate::Resemblance,
        RelationName::Containment => Relate::Containment,
    }
}

fn remove(name: RemoveName) -> Remove {
    match name {
        RemoveName::Duplicates => Remove::Duplicates,
        RemoveName::Contained => Remove::Contained,
    }
}

fn cluster(name: ClusterName) -> ClusterMode {
    match name {
        ClusterName::Conservative => ClusterMode::Conservative,
        ClusterName::Transitive => ClusterMode::Transitive,
    }
}

fn pairs(name: PairsName) -> PairsMode {
    match name {
        PairsName::All => PairsMode::All,
        PairsName::Star => PairsMode::Star,
    }
}

/// The method, with its own flags; flags of another method are refused rather than ignored.
fn method(configured: Method, args: &PlanArgs) -> Result<Method> {
    let MinHashArgs { num_perm, bands, rows, seed } = args.minhash;
    let method = match (args.method, configured) {
        (Some(MethodName::Exact), _) => Method::Exact,
        (Some(MethodName::Minhash), Method::Exact) => Method::MinHash(MinHashSettings::default()),
        (_, configured) => configured,
    };
    match method {
        Method::MinHash(mut settings) => {
            set(&mut settings.num_perm, num_perm);
            set(&mut settings.seed, seed);
            settings.bands = bands.or(settings.bands);
            settings.rows = rows.or(settings.rows);
            Ok(Method::MinHash(settings))
        }
        other if num_perm.is_none() && bands.is_none() && rows.is_none() && seed.is_none() => Ok(other),
        _ => Err(Usage("--num-perm, --bands, --rows and --seed belong to --method minhash".into()).into()),
    }
}

fn reading(plan: &mut Plan, args: &ReadingArgs) {
    let Columns { text, id, url, time, score, source } = &mut plan.columns;
    set(text, args.text_column.clone());
    set(id, args.id_column.clone());
    set(url, args.url_column.clone());
    set(time, args.time_column.clone());
    set(score, args.score_column.clone());
    set(source, args.source_column.clone());
    plan.follow |= args.follow;
    set(&mut plan.max_document_bytes, args.max_document_bytes);
}
